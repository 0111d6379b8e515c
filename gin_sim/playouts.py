"""Play-outs: a view and a world made into a hand, and played to its end, compiled.

The players of a play-out are quick, but they throw and knock by the weights of a good one:
they take what makes a meld; of the cards that stand in no meld they weigh the few dearest,
less those that promise one; and they knock when the weights say so.  One of them may be
bold and knock whenever it may.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_sim.belief import around
from gin_sim.bits import lowest
from gin_sim.cards import DECK
from gin_sim.compiled import JIT_DISABLED, kernel, records
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.melds import cards_of_ranks, least_deadwood, makes_meld, run_cards, set_ranks
from gin_sim.outs import promising
from gin_sim.scoring import DEAD, RULES_DTYPE
from gin_sim.show import fill_view, open_view
from gin_sim.state import decide_discard, decide_draw, decide_knock
from gin_sim.view import DISCARD, KNOCK, OVER, UPCARD
from gin_sim.wide_features import knock_score, throw_score
from gin_sim.worlds import World

_NEVER = 1 << 30
DECK_SIZE = 52
KNOCKING = 64
"""Added to a card that is thrown in order to knock."""

KEEP, CAUTION = 3, 2
"""Points that a promising card is worth, and that are lost by throwing beside a card that the
other one took, when it is asked which throws are weighed."""

if JIT_DISABLED:

    def new_states(count: int) -> Any:
        """Return room for so many hands."""
        return records(count, STATE_DTYPE)

    def new_rules() -> Any:
        """Return room for rules."""
        return records(1, RULES_DTYPE)

else:

    @kernel
    def new_states(count: int) -> Any:
        """Return room for so many hands."""
        return np.empty(count, STATE_DTYPE)

    @kernel
    def new_rules() -> Any:
        """Return room for rules."""
        return np.empty(1, RULES_DTYPE)


@kernel
def takes(view: Any) -> bool:
    """Take the upcard iff it would stand in a meld."""
    return makes_meld(view.hand, view.upcard)


@kernel
def knocks(view: Any, thrown: int, weights: Any) -> bool:
    """Return whether a card is thrown to knock."""
    return view.deadwood == 0 or knock_score(view, thrown, weights) > 0


@kernel
def throws(view: Any, weights: Any) -> int:
    """Return the best of the three dearest cards that stand in no meld and promise none."""
    hand = view.hand
    loose = hand & ~(run_cards(hand) | cards_of_ranks(set_ranks(hand))) & view.legal_discards
    if loose == 0:
        return lowest(view.best_discards)
    kept = promising(hand, DECK & ~view.seen)
    feeds = around(view.opponent_known)
    first = second = third = -1
    most = more = much = -100
    while loose:
        card = lowest(loose)
        loose &= loose - 1
        worth = min(card % 13 + 1, 10)
        if kept >> card & 1:
            worth -= KEEP
        if feeds >> card & 1:
            worth -= CAUTION
        if worth > most:
            first, second, third = card, first, second
            most, more, much = worth, most, more
        elif worth > more:
            second, third = card, second
            more, much = worth, more
        elif worth > much:
            third = card
            much = worth
    if second < 0:
        return first
    best = throw_score(view, first, weights)
    score = throw_score(view, second, weights)
    if score > best:
        first, best = second, score
    if third >= 0 and throw_score(view, third, weights) > best:
        first = third
    return first


@kernel
def rules_of(view: Any, rules: Any) -> None:
    """Write the rules that a view tells of; the others are those of the standard game."""
    rules.undercut_on_tie = 1
    rules.double_boxes = 0
    rules.may_throw_taken = 0
    rules.gin_bonus = view.gin_bonus
    rules.undercut_bonus = view.undercut_bonus
    rules.big_gin_bonus = view.big_gin_bonus
    rules.pile_draw_limit = _NEVER
    rules.turn_limit = view.turn + 100
    rules.longest_meld = 13
    rules.thrown_back_limit = _NEVER
    rules.wall = 0
    rules.target = view.target


@kernel
def set_view(state: Any, rules: Any, view: Any) -> None:
    """Write all that a view tells of a hand into a state; :func:`set_world` adds the rest.

    The histories stay empty: a play-out's players do not look at them.
    """
    own = view.is_dealer & 1
    other = 1 - own
    for place in range(DECK_SIZE):
        state.deck[place] = place
    state.phase = view.phase
    state.seat = own
    state.turn = view.turn
    state.lazy = 1
    state.place = DECK_SIZE - view.stock_left
    state.pile = view.pile
    state.upcard = view.upcard
    state.first_upcard = view.upcard
    state.limit = view.knock_limit
    state.multiplier = view.multiplier
    state.passes = own if view.phase == UPCARD else 0
    state.pile_draws = 0
    state.thrown_back = 0
    state.reshuffles = 0
    state.last_chance = 0
    state.drawn = view.drawn
    state.taken = view.taken
    state.candidate = view.candidate
    state.candidate_deadwood = view.deadwood if view.phase == KNOCK else -1
    state.legal_discards = view.legal_discards
    state.best_discards = view.best_discards
    state.best_deadwood = view.deadwood if view.phase == DISCARD else -1
    state.n_events = 0
    state.outcome = DEAD
    state.ender = -1
    state.winner = -1
    state.points = 0
    state.hands[own] = view.hand
    state.known[own] = 0
    state.known[other] = view.opponent_known
    state.discards[own] = view.own_discards
    state.discards[other] = view.opponent_discards
    state.refused[own] = 0
    state.refused[other] = view.opponent_refused
    state.deadwood[own] = view.deadwood
    state.own_turns[own] = view.own_turn
    state.own_turns[other] = view.turn - view.own_turn
    for seat in range(2):
        state.first_chance[seat] = -1
        state.decisions[seat] = 0
        state.scores[seat] = view.score if seat == own else view.opponent_score
    open_view(state, rules, 0)
    open_view(state, rules, 1)


@kernel
def set_world(state: Any, unseen: int, world: World) -> None:
    """Lay the hidden cards of a world under the view that a state was made from."""
    other = 1 - state.seat
    state.hands[other] = world.opponent
    state.deadwood[other] = least_deadwood(world.opponent)
    stock = unseen & ~world.opponent
    place = state.place
    while stock and place < DECK_SIZE:
        state.deck[place] = lowest(stock)
        stock &= stock - 1
        place += 1
    state.key = np.uint64(world.word)
    state.stock_key = state.key
    state.seat_keys[0] = state.key
    state.seat_keys[1] = state.key


@kernel
def act(state: Any, rules: Any, action: int) -> None:
    """Do what is due: 1 or 0 for yes and no; a card, with `KNOCKING` added to knock."""
    if state.phase == DISCARD:
        decide_discard(state, rules, action & (KNOCKING - 1))
        if state.phase == KNOCK:
            decide_knock(state, rules, action >= KNOCKING)
    elif state.phase == KNOCK:
        decide_knock(state, rules, action == 1)
    else:
        decide_draw(state, rules, action == 1)


@kernel
def play_out(state: Any, rules: Any, weights: Any, bold: int) -> None:
    """Play a hand on to its end.

    Functions are called by name here, not handed in as :func:`gin_sim.play.play_until` takes
    them: code that was compiled around functions handed in is not kept for the next process.

    Parameters
    ----------
    weights : (N_WIDE,) array of float
        By which both throw and knock; see :mod:`gin_sim.wide_features`.
    bold : int
        The seat that knocks whenever it may, or -1.
    """
    while state.phase != OVER:
        seat = state.seat
        view = state.views[seat]
        fill_view(state, view)
        if state.phase == DISCARD:
            going = False
            if view.deadwood <= view.knock_limit:
                card = lowest(view.best_discards)
                going = seat == bold or knocks(view, card, weights)
            if not going:
                card = throws(view, weights)
            decide_discard(state, rules, card)
            if state.phase == KNOCK:
                decide_knock(state, rules, going)
        elif state.phase == KNOCK:
            going = seat == bold or knocks(view, view.candidate, weights)
            decide_knock(state, rules, going)
        else:
            decide_draw(state, rules, takes(view))
