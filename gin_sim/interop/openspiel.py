"""Hands under the preset `openspiel` as OpenSpiel's action lists, and back.

OpenSpiel's `gin_rummy` numbers cards ``13 * suit + rank`` with the suits in the order s, c, d,
h.  52 draws the upcard, 53 from the stock, 54 passes, 55 knocks, 56 and more lay a meld.  Its
first 21 actions deal: ten cards to player 0, who is our non-dealer, ten to player 1, and the
upcard; after each 53 comes the card.  A knock is declared first, then come the discard and the
melds, one by one; the defender lays off, passes, and lays own melds.

Where it plays otherwise than it should, by comparison with hands of ours:

* of eleven cards it lays out the best melds and then drops the dearest card left over, which
  is not always the best discard: its deadwood of eleven cards can be too high, and a knock
  with ten points or less is then refused (:data:`ELEVEN_CARDS`, :data:`KNOCK_REFUSED`);
* at either end of a run it takes two cards that are laid off, and no third.  That costs
  nobody anything: three in a row are a run of the defender's own, and a hand of ours lays
  off the fewest cards;
* equal counts pay nothing, which the preset has as a rule.

Nothing here needs OpenSpiel; :mod:`gin_sim.interop.openspiel_bots` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from gin_sim.cards import card_name, cards_of, mask_of, parse_card
from gin_sim.checks import whole_number
from gin_sim.errors import CardError, ResultsError, RulesError
from gin_sim.history import History
from gin_sim.records import PLAYERS
from gin_sim.rules import Rules
from gin_sim.settle import showdown
from gin_sim.table import Hand

TAKE, DRAW, PASS, KNOCK = 52, 53, 54, 55
FIRST_MELD = 56
RULES = Rules.preset("openspiel")
DEALT = 21
"""How many actions deal."""

ELEVEN_CARDS = "deadwood of eleven cards too high"
KNOCK_REFUSED = "knock refused for that"

_LONGEST = 5  # melds that have a number


def card_of(action: int) -> int:
    """Return our number of a card of theirs.

    Raises
    ------
    CardError
        For an action that is no card.

    Examples
    --------
    >>> card_name(card_of(0)), card_name(card_of(13))
    ('As', 'Ac')
    """
    if not 0 <= action < 52:
        raise CardError(f"action {action} is no card: those are 0..51")
    suit, rank = divmod(action, 13)
    return 13 * ((suit - 1) % 4) + rank


def action_of(card: int) -> int:
    """Return their number of a card of ours."""
    suit, rank = divmod(card, 13)
    return 13 * ((suit + 1) % 4) + rank


def _melds_with_numbers() -> Iterator[tuple[int, ...]]:
    """Yield all melds of three to five cards in the order of their numbers."""
    for rank in range(13):
        of_rank = [13 * suit + rank for suit in range(4)]
        for left_out in of_rank:
            yield tuple(card for card in of_rank if card != left_out)
        yield tuple(of_rank)
    for size in range(3, _LONGEST + 1):
        for suit in range(4):
            for low in range(14 - size):
                yield tuple(range(13 * suit + low, 13 * suit + low + size))


def meld_actions(meld: int) -> list[int]:
    """Return the actions that lay a meld: of a run of six and more cards, those of its parts.

    Parameters
    ----------
    meld : int
        Mask of a set or a run.
    """
    cards = cards_of(meld)
    if cards[0] % 13 == cards[1] % 13 or len(cards) <= _LONGEST:
        return [_NUMBER_OF_MELD[tuple(sorted(map(action_of, cards)))]]
    parts = -(-len(cards) // _LONGEST)
    cuts = [len(cards) * part // parts for part in range(parts + 1)]
    return [
        _NUMBER_OF_MELD[tuple(map(action_of, cards[start:end]))] for start, end in pairwise(cuts)
    ]


_NUMBER_OF_MELD = {meld: FIRST_MELD + i for i, meld in enumerate(_melds_with_numbers())}


def legal_actions(hand: Hand, declared: bool = False) -> set[int]:
    """Return the legal moves of a hand as OpenSpiel should number them.

    Parameters
    ----------
    hand : Hand
        Under :data:`RULES`; not over.
    declared : bool
        Whether the player to move has declared a knock (55) and is to throw a card.
    """
    if hand.phase == "discard":
        if declared:
            return {action_of(card) for card in hand.legal_knocks()}
        throws = {action_of(card) for card in hand.legal_discards()}
        return throws | ({KNOCK} if hand.legal_knocks() else set())
    moves = {"take": TAKE, "draw": DRAW, "pass": PASS}
    if hand.phase == "last":
        moves["take"] = KNOCK  # the last upcard may be taken only to knock
    return {moves[move] for move in hand.legal_moves()}


def _lay_down(hand: Hand) -> list[int]:
    """Return what is done after a knock: melds, lay-offs, melds, with the passes between."""
    facts = hand.facts()
    ender = facts["ender"]
    settled = showdown(
        hand.cards(ender), hand.cards(1 - ender), RULES, seen=int(hand.record["pile"])
    )
    actions = [number for meld in settled.knocker_melds for number in meld_actions(meld)]
    actions.append(PASS)
    if facts["outcome"] != "gin":
        actions += [*(action_of(one.card) for one in settled.layoffs), PASS]
    actions += [number for meld in settled.defender_melds for number in meld_actions(meld)]
    return [*actions, PASS]


def to_actions(history: History) -> list[int]:
    """Return a hand as OpenSpiel's actions from its first state to its last, deal included.

    Parameters
    ----------
    history : History
        Of a hand under the preset `openspiel` that nobody has forfeited.

    Raises
    ------
    RulesError
        For other rules, or a forfeit.
    ResultsError
        If it is no legal hand.
    """
    if history.rules != RULES:
        raise RulesError("other rules than those of the preset openspiel have no action list")
    first = PLAYERS.index(history.dealer) ^ 1
    actions = [action_of(card) for p in (first, 1 - first) for card in cards_of(history.dealt[p])]
    actions.append(action_of(history.upcard))
    end = history.hand()
    stock, declared = 31, False
    for move in history.moves:
        _, verb, *name = move.split(" ")
        card = action_of(parse_card(name[0])) if name else -1
        if verb == "forfeit":
            raise RulesError("a hand that was forfeited has no action list")
        if verb == "take":
            declared = stock == 2  # the last upcard may be taken only to knock
            actions.append(KNOCK if declared else TAKE)
        elif verb == "draw":
            stock -= 1
            actions += [DRAW, card]
        elif verb == "knock":
            actions += [card] if declared else [KNOCK, card]
        else:
            actions.append(PASS if verb == "pass" else card)
    if end.facts()["ender"] is not None:
        actions += _lay_down(end)
    elif stock == 2 and not history.moves[-1].endswith("pass"):
        actions.append(PASS)  # OpenSpiel asks also who cannot knock with the last upcard
    return actions


def from_actions(actions: Sequence[int], agents: tuple[str, str] = ("0", "1")) -> History:
    """Return the hand that OpenSpiel's actions make, deal included.

    Which melds were laid down and what was laid off is not kept: a hand of ours settles that
    exactly, and its result can differ from theirs where players, or OpenSpiel, did worse.

    Parameters
    ----------
    actions : sequence of int
        As ``state.history()`` of a finished state returns them.
    agents : (str, str)
        Names of players 0, who is a and moves first, and 1.

    Raises
    ------
    ResultsError
        Naming the place of the action that cannot be, and why.
    """
    numbers = [
        whole_number(action, f"action {at}", 0, 1 << 15, ResultsError)
        for at, action in enumerate(actions)
    ]
    try:
        deck = [card_of(action) for action in numbers[:DEALT]]
        if len(deck) < DEALT:
            raise CardError(f"{len(deck)} actions; {DEALT} deal")
        hand = Hand.from_deck([*deck, *(c for c in range(52) if c not in deck)], RULES)
    except CardError as error:
        raise ResultsError(f"the deal: {error}") from error
    moves: list[str] = []
    at = DEALT
    while at < len(numbers) and hand.phase != "over":
        try:
            at += _follow(hand, moves, numbers[at : at + 3])
        except (CardError, RulesError) as error:
            raise ResultsError(f"action {at} ({numbers[at]}): {error}") from error
    if hand.phase != "over":
        raise ResultsError(f"after {len(numbers)} actions the hand is not over ({hand.phase})")
    dealt = mask_of(deck[:10]), mask_of(deck[10:20])
    return History(RULES, agents, "b", dealt, deck[20], tuple(moves))


def _follow(hand: Hand, moves: list[str], actions: list[int]) -> int:
    """Make the move that the first of some actions makes; return how many it took."""
    player, action = PLAYERS[hand.seat], actions[0]
    used = 1
    if action == PASS and len(moves) == 1 and hand.phase == "upcard":
        # The draw that follows is the machine's: the card has to lie on the stock.
        if len(actions) < 3 or actions[1] != DRAW:
            raise RulesError("after two passes the non-dealer draws")
        hand.stack(card_of(actions[2]))
        hand.pass_()
        moves += [f"{player} pass", f"{PLAYERS[0]} draw {card_name(card_of(actions[2]))}"]
        return 3
    if action == PASS:
        hand.pass_()
        moves.append(f"{player} pass")
    elif action == DRAW:
        if len(actions) < 2:
            raise RulesError("the card drawn does not follow")
        hand.stack(card_of(actions[1]))
        hand.draw()
        moves.append(f"{player} draw {card_name(card_of(actions[1]))}")
        used = 2
    elif action == TAKE or (action == KNOCK and hand.phase == "last"):
        upcard = hand.upcard
        hand.take()
        moves.append(f"{player} take {'' if upcard is None else card_name(upcard)}")
    else:
        out = action == KNOCK
        card = card_of(actions[1] if out and len(actions) > 1 else action)
        used = 2 if out else 1
        # In the last phase the knock was declared before the card was taken.
        out = out or bool(hand.record["last_chance"])
        (hand.knock if out else hand.throw)(card)
        moves.append(f"{player} {'knock' if out else 'throw'} {card_name(card)}")
    return used
