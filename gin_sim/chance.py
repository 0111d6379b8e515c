"""Chance: what is dealt and what the decisions draw on, as functions of numbers.

Nothing here has a state.  With 64-bit arithmetic, ``G = 0x9E3779B97F4A7C15`` and
``mix`` the finaliser of splitmix64 [1]_:

* the key of a deal is ``mix(mix(seed ^ 0x67696E2D73696D31) + (deal + 1) * G)``;
* word ``n`` of a stream with key ``k`` is ``mix(k + (n + 1) * G)``;
* the deck starts in the order of the card numbers and is shuffled from the front
  (Fisher–Yates): place ``i`` is swapped with place ``i + (h * (52 - i) >> 32)``, where
  ``h`` is the low (``i`` even) or high (``i`` odd) half of word ``i >> 1`` of the stream
  of the deal's key;
* places 0..9 are the non-dealer's hand, 10..19 the dealer's, 20 the upcard, 21..51 the
  stock in the order in which it is drawn.  A stock card is shuffled when it is drawn;
* when the pile is turned over for the n-th time (n = 1, 2, …), the 31 cards of the new
  stock are put into places 21..51 in the order of their numbers and shuffled in the same
  way with the key ``mix(key ^ n * 0xD1B54A32D192ED03)``;
* decision ``n`` of a seat gets word ``n`` of the stream ``mix(key ^ 0xA0761D6478BD642F)``
  (non-dealer) or ``mix(key ^ 0xE7037ED1A0B428DB)`` (dealer), shifted right by one bit so
  that it is a non-negative signed integer.  Decisions whose answer is forced are not
  asked and not counted.

References
----------
.. [1] Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
   OOPSLA 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_sim.bits import lowest, nth_card, popcount
from gin_sim.checks import MAX_SEED, whole_number
from gin_sim.compiled import JIT_DISABLED, kernel
from gin_sim.errors import RulesError

# One text serves both modes: compiled, all of this is uint64 and wraps by itself; in
# plain Python the same names are ints and the masks do the wrapping.
_unsigned: Any = int if JIT_DISABLED else np.uint64
_signed: Any = int if JIT_DISABLED else np.int64

_GOLDEN = _unsigned(0x9E3779B97F4A7C15)
_MIX_1 = _unsigned(0xBF58476D1CE4E5B9)
_MIX_2 = _unsigned(0x94D049BB133111EB)
_WORD = _unsigned(0xFFFFFFFFFFFFFFFF)
_HALF = _unsigned(0xFFFFFFFF)
_SEED_SALT = _unsigned(0x67696E2D73696D31)
_RESHUFFLE = _unsigned(0xD1B54A32D192ED03)
_SEAT_0 = _unsigned(0xA0761D6478BD642F)
_SEAT_1 = _unsigned(0xE7037ED1A0B428DB)
_S1, _S27, _S30, _S31, _S32 = (_unsigned(n) for n in (1, 27, 30, 31, 32))


@kernel
def mix(z: Any) -> Any:
    """Return the splitmix64 finaliser of an unsigned word."""
    z = _unsigned(z)
    z = ((z ^ (z >> _S30)) * _MIX_1) & _WORD
    z = ((z ^ (z >> _S27)) * _MIX_2) & _WORD
    return z ^ (z >> _S31)


@kernel
def word_at(key: Any, n: int) -> Any:
    """Return word `n` of the stream with a key."""
    return mix((_unsigned(key) + _unsigned(n + 1) * _GOLDEN) & _WORD)


@kernel
def deal_key(seed: int, deal: int) -> Any:
    """Return the key from which all chance of a deal comes."""
    return word_at(mix(_unsigned(seed) ^ _SEED_SALT), deal)


@kernel
def reshuffle_key(key: Any, n: int) -> Any:
    """Return the key of the stock made by the n-th turning over of the pile."""
    return mix(_unsigned(key) ^ ((_unsigned(n) * _RESHUFFLE) & _WORD))


@kernel
def seat_key(key: Any, seat: int) -> Any:
    """Return the key of a seat's decisions; seat 0 is the non-dealer."""
    return mix(_unsigned(key) ^ (_SEAT_0 if seat == 0 else _SEAT_1))


@kernel
def decision_word(key: Any, n: int) -> int:
    """Return the non-negative random word of decision `n` of a seat."""
    word: int = _signed(word_at(key, n) >> _S1)
    return word


@kernel
def shuffle_place(deck: Any, key: Any, i: int) -> None:
    """Fix place `i` of a deck whose earlier places are fixed."""
    word = word_at(key, i >> 1)
    half = word >> _S32 if i & 1 else word & _HALF
    j = i + _signed((half * _unsigned(52 - i)) >> _S32)
    card = deck[j]
    deck[j] = deck[i]
    deck[i] = card


@kernel
def next_word(word: int) -> int:
    """Return the word after `word`, for an agent that needs more than one."""
    after: int = _signed(mix((_unsigned(word) + _GOLDEN) & _WORD) >> _S1)
    return after


@kernel
def below(word: int, n: int) -> int:
    """Return a number 0..n-1 that is as random as the word; n at most 2**31."""
    return (word >> 31) * n >> 32


@kernel
def sample(scores: Any, n: int, dice: float) -> int:
    """Turn the first n scores into probabilities; return one place by them.

    Parameters
    ----------
    dice : float
        At least 0 and below 1.
    """
    scores[:n] = np.exp(scores[:n] - scores[:n].max())
    scores[:n] /= scores[:n].sum()
    for i in range(n - 1):
        dice -= scores[i]
        if dice < 0.0:
            return i
    return n - 1


@kernel
def pick(cards: int, word: int) -> int:
    """Return a card of a non-empty mask, each as likely as the next."""
    if cards & (cards - 1) == 0:
        return lowest(cards)
    return nth_card(cards, below(word, popcount(cards)))


@kernel
def _shuffle_all(deck: Any, seed: int, deal: int) -> None:
    """Shuffle a deck that is in order; a kernel, since Python has no 64-bit keys."""
    key = deal_key(seed, deal)
    for place in range(52):
        shuffle_place(deck, key, place)


def shuffled_deck(seed: int, deal: int) -> list[int]:
    """Return all 52 cards of a deal in the order of the places described above.

    Raises
    ------
    RulesError
        If seed or deal is not one of 0..2**63 - 1.
    """
    seed = whole_number(seed, "seed", 0, MAX_SEED, RulesError)
    deal = whole_number(deal, "deal", 0, MAX_SEED, RulesError)
    deck = np.arange(52, dtype=np.int64)
    _shuffle_all(deck, seed, deal)
    return [int(card) for card in deck]
