"""The hand as a state machine, compiled.

A hand is one record (:mod:`gin_sim.hand_record`).  ``phase`` says what is due and ``seat`` who is
to decide (seat 0 is the non-dealer); the functions below are the moves.  Copying the
record forks the hand.  :mod:`gin_sim.play` puts agents in front of it,
:class:`gin_sim.Hand` puts a person there, and tests hold it against a slow rendering
written apart.

The phases and what leads from one to the next::

    UPCARD  take -> DISCARD; pass -> UPCARD of the dealer; both passed -> the non-dealer
            draws from the stock without being asked -> DISCARD
    DRAW    take the upcard, or draw from the stock -> DISCARD
    DISCARD throw a card: if nothing is left over it is gin and ends the hand; if what is
            left may be knocked with -> KNOCK; else the turn ends
    KNOCK   knock, which ends the hand, or let the turn end
    LAST    (rule "50th card") take the upcard -> DISCARD with a card that allows the
            knock, which then follows; or let the hand die
    OVER    the facts are in the record

Gin, and big gin where the rules know it, are declared for the player, here: nobody is
asked.  A turn's end leads to DRAW of the other seat, or at the wall to a dead hand, to
LAST, or to a new stock; too many turns, draws from the pile or cards thrown back end the
hand dead.
"""

from __future__ import annotations

from typing import Any

from gin_sim.bits import popcount
from gin_sim.chance import deal_key, reshuffle_key, seat_key, shuffle_place
from gin_sim.compiled import kernel
from gin_sim.layoff import lay_down, lay_off
from gin_sim.melds import knock_discards, least_deadwood, least_discards_among
from gin_sim.scoring import BIG_GIN, DEAD, FORFEIT, GIN, KNOCKED, hand_points, knock_outcome
from gin_sim.show import note, open_view
from gin_sim.view import (
    DISCARD,
    DRAW,
    DREW,
    KNOCK,
    LAST,
    OVER,
    PASSED,
    THREW,
    TOOK,
    UPCARD,
)

STOCK_START = 21
WALL_CARDS = 2
_DECK = (1 << 52) - 1


@kernel
def start_dealt(state: Any, rules: Any) -> None:
    """Start a hand whose deck has at least its first 21 places fixed."""
    for seat in range(2):
        hand = 0
        for place in range(10 * seat, 10 * seat + 10):
            hand |= 1 << state.deck[place]
        deadwood = least_deadwood(hand)
        state.hands[seat] = hand
        state.deadwood[seat] = deadwood
        state.dealt_deadwood[seat] = deadwood
        state.known[seat] = 0
        state.discards[seat] = 0
        state.refused[seat] = 0
        state.first_chance[seat] = -1
        state.own_turns[seat] = 0
        state.decisions[seat] = 0
        state.seat_keys[seat] = seat_key(state.key, seat)
    upcard = state.deck[20]
    state.stock_key = state.key
    state.place = STOCK_START
    state.pile = 1 << upcard
    state.upcard = upcard
    state.first_upcard = upcard
    state.limit = rules.limit[upcard]
    state.multiplier = rules.multiplier[upcard]
    state.phase = UPCARD
    state.seat = 0
    state.turn = 0
    state.passes = 0
    state.pile_draws = 0
    state.thrown_back = 0
    state.reshuffles = 0
    state.last_chance = 0
    state.drawn = -1
    state.taken = -1
    state.candidate = -1
    state.candidate_deadwood = -1
    state.legal_discards = 0
    state.best_discards = 0
    state.best_deadwood = -1
    state.n_events = 0
    state.outcome = DEAD
    state.ender = -1
    state.winner = -1
    state.points = 0
    state.knock_deadwood = -1
    state.defender_before = -1
    state.defender_after = -1
    state.laid_off = 0
    state.knock_sets = 0
    state.knock_runs = 0
    open_view(state, rules, 0)
    open_view(state, rules, 1)


@kernel
def deal(state: Any, rules: Any, key: Any) -> None:
    """Shuffle what a deal needs, and start the hand."""
    for place in range(52):
        state.deck[place] = place
    for place in range(STOCK_START):
        shuffle_place(state.deck, key, place)
    state.key = key
    state.lazy = 1
    start_dealt(state, rules)


@kernel
def deal_number(state: Any, rules: Any, seed: int, number: int) -> None:
    """Start the hand with a number of a seed; for Python, which has no 64-bit keys."""
    deal(state, rules, deal_key(seed, number))


@kernel
def stock_left(state: Any) -> int:
    """Return how many cards the stock has."""
    left: int = 52 - state.place
    return left


@kernel
def _die(state: Any) -> None:
    """End the hand without a score."""
    state.phase = OVER
    state.outcome = DEAD


@kernel
def _settle(state: Any, rules: Any, outcome: int) -> None:
    """End the hand with the seat to act going out with `candidate_deadwood`."""
    seat = state.seat
    after = state.deadwood[1 - seat]
    hand = state.hands[seat]
    state.ender = seat
    state.knock_deadwood = state.candidate_deadwood
    state.defender_before = after
    if outcome == KNOCKED:
        sets, runs = lay_down(hand, hand | state.pile, rules.longest_meld)
        after, laid_off = lay_off(state.hands[1 - seat], sets, runs, rules.longest_meld)
        outcome = knock_outcome(state.candidate_deadwood, after, rules)
        state.knock_sets = sets
        state.knock_runs = runs
        state.laid_off = laid_off
    close_hand(state, rules, outcome, after)


@kernel
def close_hand(state: Any, rules: Any, outcome: int, after: int) -> None:
    """End the hand that `ender` went out in, with `after` points left in the other hand."""
    ender = state.ender
    if outcome == KNOCKED:
        state.winner = -1 if after == state.knock_deadwood else ender
    else:
        state.winner = ender if outcome == GIN or outcome == BIG_GIN else 1 - ender
    state.phase = OVER
    state.outcome = outcome
    state.defender_after = after
    state.points = hand_points(outcome, state.knock_deadwood, after, state.multiplier, rules)


@kernel
def forfeit(state: Any, rules: Any) -> None:
    """End the hand lost by the seat to act, priced as gin for the other one."""
    seat = state.seat
    # The deadwood before the turn: what was drawn in it went nowhere.
    deadwood = state.deadwood[seat]
    state.phase = OVER
    state.outcome = FORFEIT
    state.ender = seat
    state.winner = 1 - seat
    state.knock_deadwood = -1
    state.defender_before = deadwood
    state.defender_after = deadwood
    state.points = hand_points(FORFEIT, 0, deadwood, state.multiplier, rules)


@kernel
def _to_discard(state: Any, rules: Any) -> None:
    """Look at eleven cards: what may be thrown, what is best, whether one may knock."""
    seat = state.seat
    hand = state.hands[seat]
    allowed = hand
    if state.taken >= 0 and not rules.may_throw_taken:
        allowed ^= 1 << state.taken
    deadwood, best = least_discards_among(hand, allowed)
    if deadwood <= state.limit:
        if state.first_chance[seat] < 0:
            state.first_chance[seat] = stock_left(state)
        if state.last_chance:
            allowed = knock_discards(hand, allowed, state.limit)
    state.phase = DISCARD
    state.legal_discards = allowed
    state.best_discards = best
    state.best_deadwood = deadwood
    if rules.big_gin_bonus >= 0 and deadwood == 0 and least_deadwood(hand) == 0:
        state.candidate_deadwood = 0
        _settle(state, rules, BIG_GIN)


@kernel
def take_upcard(state: Any, rules: Any) -> None:
    """Move: take the top card of the pile."""
    if state.phase == DRAW:
        state.pile_draws += 1
        if state.pile_draws >= rules.pile_draw_limit:
            _die(state)
            return
    state.last_chance = 1 if state.phase == LAST else 0
    card = state.upcard
    bit = 1 << card
    seat = state.seat
    state.upcard = -1
    state.pile ^= bit
    state.hands[seat] |= bit
    state.known[seat] |= bit
    state.drawn = card
    state.taken = card
    note(state, TOOK, card)
    _to_discard(state, rules)


@kernel
def draw_stock(state: Any, rules: Any) -> None:
    """Move: draw the top card of the stock, leaving the upcard."""
    if state.phase == DRAW:
        state.refused[state.seat] |= 1 << state.upcard
    if state.lazy:
        shuffle_place(state.deck, state.stock_key, state.place)
    card = state.deck[state.place]
    state.place += 1
    state.hands[state.seat] |= 1 << card
    state.drawn = card
    state.taken = -1
    note(state, DREW, card)
    _to_discard(state, rules)


@kernel
def shuffle_stock(state: Any) -> None:
    """Shuffle what of the stock is still to be shuffled: the same cards come as would have."""
    if state.lazy:
        for place in range(state.place, 52):
            shuffle_place(state.deck, state.stock_key, place)
        state.lazy = 0


@kernel
def pass_upcard(state: Any, rules: Any) -> None:
    """Move: leave the opening upcard to the other seat; in LAST, let the hand die."""
    state.refused[state.seat] |= 1 << state.upcard
    note(state, PASSED, state.upcard)
    if state.phase == LAST:
        _die(state)
        return
    state.passes += 1
    state.seat = 1 - state.seat
    if state.passes == 2:
        draw_stock(state, rules)


@kernel
def _turn_over_pile(state: Any) -> None:
    """Make a new stock of all cards but the hands and the top of the pile."""
    state.reshuffles += 1
    state.stock_key = reshuffle_key(state.key, state.reshuffles)
    state.pile = 1 << state.upcard
    new_stock = _DECK & ~(state.hands[0] | state.hands[1] | state.pile)
    place = STOCK_START
    for card in range(52):
        if new_stock >> card & 1:
            state.deck[place] = card
            place += 1
    state.place = STOCK_START
    state.lazy = 1


@kernel
def _lay_card_down(state: Any, card: int) -> None:
    """Put a card of the seat to act on the pile."""
    seat = state.seat
    bit = 1 << card
    state.hands[seat] ^= bit
    state.known[seat] &= ~bit
    state.pile |= bit
    state.discards[seat] |= bit
    state.upcard = card
    note(state, THREW, card)


@kernel
def deadwood_after(state: Any, card: int) -> int:
    """Return the deadwood that throwing `card` leaves the seat to act."""
    deadwood: int = state.best_deadwood
    if not state.best_discards >> card & 1:
        deadwood = least_deadwood(state.hands[state.seat] ^ (1 << card))
    return deadwood


@kernel
def throw(state: Any, rules: Any, card: int, deadwood: int) -> None:
    """Move: throw a card that leaves `deadwood`, without knocking; the turn ends."""
    seat = state.seat
    _lay_card_down(state, card)
    state.deadwood[seat] = deadwood
    state.turn += 1
    state.own_turns[seat] += 1
    state.thrown_back = state.thrown_back + 1 if card == state.taken else 0
    state.seat = 1 - seat
    state.drawn = -1
    state.taken = -1
    state.candidate = -1
    state.phase = DRAW
    if (
        state.turn >= rules.turn_limit
        or state.last_chance
        or state.thrown_back >= rules.thrown_back_limit
    ):
        _die(state)
    elif stock_left(state) <= WALL_CARDS:
        if rules.wall == 2:
            _turn_over_pile(state)
        elif rules.wall == 1 and _may_knock_with_upcard(state, rules):
            state.phase = LAST
        else:
            _die(state)


@kernel
def _may_knock_with_upcard(state: Any, rules: Any) -> bool:
    """Return whether the seat to act could take the upcard and knock."""
    hand = state.hands[state.seat]
    bit = 1 << state.upcard
    allowed = hand | bit if rules.may_throw_taken else hand
    deadwood, _ = least_discards_among(hand | bit, allowed)
    may: bool = deadwood <= state.limit
    return may


@kernel
def knock(state: Any, rules: Any, card: int, deadwood: int) -> None:
    """Move: throw a card that leaves `deadwood` and go out with it."""
    _lay_card_down(state, card)
    state.turn += 1
    state.own_turns[state.seat] += 1
    state.candidate = card
    state.candidate_deadwood = deadwood
    _settle(state, rules, GIN if deadwood == 0 else KNOCKED)


@kernel
def decide_draw(state: Any, rules: Any, take: bool) -> None:
    """Answer UPCARD, DRAW or LAST."""
    if take:
        take_upcard(state, rules)
    elif state.phase == DRAW:
        draw_stock(state, rules)
    else:
        pass_upcard(state, rules)


@kernel
def decide_discard(state: Any, rules: Any, card: int) -> bool:
    """Answer DISCARD; return False, and change nothing, if the card is not legal."""
    if card < 0 or card > 51 or not state.legal_discards >> card & 1:
        return False
    deadwood = deadwood_after(state, card)
    if deadwood == 0 or (state.last_chance and deadwood <= state.limit):
        knock(state, rules, card, deadwood)
    elif deadwood <= state.limit:
        state.phase = KNOCK
        state.candidate = card
        state.candidate_deadwood = deadwood
    else:
        throw(state, rules, card, deadwood)
    return True


@kernel
def decide_knock(state: Any, rules: Any, go: bool) -> None:
    """Answer KNOCK."""
    if go:
        knock(state, rules, state.candidate, state.candidate_deadwood)
    else:
        throw(state, rules, state.candidate, state.candidate_deadwood)


@kernel
def check_cards(state: Any) -> bool:
    """Return whether every card is in exactly one place, and the hands are full."""
    turn_open = state.phase == DISCARD or state.phase == KNOCK
    stock = 0
    for place in range(state.place, 52):
        stock |= 1 << state.deck[place]
    total = 0
    union = stock | state.pile
    for seat in range(2):
        n = popcount(state.hands[seat])
        full = 11 if state.seat == seat and turn_open else 10
        if state.outcome == BIG_GIN and state.ender == seat:
            full = 11
        if state.phase != OVER and n != full:
            return False
        total += n
        union |= state.hands[seat]
    total += popcount(stock) + popcount(state.pile)
    return total == 52 and union == _DECK and popcount(stock) == stock_left(state)
