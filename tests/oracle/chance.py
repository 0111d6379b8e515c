"""Chance, from its specification, with Python's unbounded integers."""

from __future__ import annotations

G = 0x9E3779B97F4A7C15
ALL = 2**64


def mix(z: int) -> int:
    """Return the finaliser of splitmix64."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % ALL
    z = (z ^ z >> 27) * 0x94D049BB133111EB % ALL
    return z ^ z >> 31


def word(key: int, n: int) -> int:
    return mix((key + (n + 1) * G) % ALL)


def deal_key(seed: int, deal: int) -> int:
    return mix((mix(seed ^ 0x67696E2D73696D31) + (deal + 1) * G) % ALL)


def shuffle(deck: list[int], key: int, first: int = 0) -> list[int]:
    """Return a deck whose places from `first` on are shuffled from the front."""
    deck = list(deck)
    for i in range(first, 52):
        both = word(key, i // 2)
        half = both // 2**32 if i % 2 else both % 2**32
        j = i + half * (52 - i) // 2**32
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def dealt(key: int) -> list[int]:
    return shuffle(list(range(52)), key)


def new_stock(key: int, n: int, cards: set[int]) -> list[int]:
    """Return the stock made of `cards` when the pile is turned over for the n-th time."""
    deck = [-1] * 21 + sorted(cards)
    return shuffle(deck, mix(key ^ n * 0xD1B54A32D192ED03 % ALL), 21)[21:]


def decision_word(key: int, seat: int, n: int) -> int:
    """Return the random word of decision `n` of a seat; seat 0 is the non-dealer."""
    salt = (0xA0761D6478BD642F, 0xE7037ED1A0B428DB)[seat]
    return word(mix(key ^ salt), n) // 2
