"""A bot for gin-sim in plain Python: it lowers its deadwood at every step.

    gin-sim tournament "cmd:python3 docs/bots/greedy_bot.py" simple

Needs nothing but Python and plays exactly as gin-sim's own `greedy`.  What is said is
described in docs/protocol.md.  It keeps nothing between two questions.
"""

import json
import sys

RANKS = "A23456789TJQK"
SUITS = "cdhs"
DECK = [rank + suit for suit in SUITS for rank in RANKS]


def points(card):
    return min(RANKS.index(card[0]) + 1, 10)


def all_melds():
    """Yield every meld of three to five cards; longer ones are made of these."""
    for rank in RANKS:
        four = {rank + suit for suit in SUITS}
        yield frozenset(four)
        for card in four:
            yield frozenset(four - {card})
    for suit in SUITS:
        for length in (3, 4, 5):
            for low in range(13 - length + 1):
                yield frozenset(rank + suit for rank in RANKS[low : low + length])


MELDS = {card: [] for card in DECK}
for meld in all_melds():
    for card in meld:
        MELDS[card].append(meld)


def deadwood(hand):
    """Return the least points that are left when melds are laid down."""
    fitting = {meld for card in hand for meld in MELDS[card] if meld <= hand}
    return least(sorted(fitting, key=sorted), hand, sum(map(points, hand)))


def least(melds, hand, total):
    best = total
    for i, meld in enumerate(melds):
        if meld <= hand:
            rest = total - sum(map(points, meld))
            best = min(best, least(melds[i + 1 :], hand - meld, rest))
    return best


def takes(view):
    """Take the upcard if that lowers the deadwood after the best discard."""
    hand, upcard = set(view["hand"].split()), view["upcard"]
    after = min(deadwood(hand - {card} | {upcard}) for card in hand)
    return after < view["deadwood"]


def throws(view):
    """Of the best discards the highest in rank, then the least useful to the opponent."""
    best = view["best_discards"].split()
    gone = set(view["hand"].split()) | set(view["pile"].split())
    rank = max(RANKS.index(card[0]) for card in best)
    highest = [card for card in best if RANKS.index(card[0]) == rank]
    return min(highest, key=lambda card: melds_open(card, gone))


def melds_open(card, gone):
    """Count the melds of three that hold a card and none of those that are gone."""
    return sum(len(meld) == 3 and not (meld - {card}) & gone for meld in MELDS[card])


def answer(view):
    if view["decision"] == "draw":
        return view["allowed"].split()[not takes(view)]
    if view["decision"] == "discard":
        return throws(view)
    return "knock"


def say(message):
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "hello", "protocol": 1, "name": "greedy bot"})
    elif message["type"] == "decide":
        say({"id": message["id"], "answer": answer(message)})
    elif message["type"] == "quit":
        break
