"""``gin-sim sprt``: a sequential test from counts."""

from __future__ import annotations

import argparse
from typing import Any

from gin_sim.checks import MAX_SEED
from gin_sim.cli.common import add_json, real, whole
from gin_sim.errors import GinSimError


def add_hypotheses(parser: argparse.ArgumentParser) -> None:
    """Add ``--elo0``, ``--elo1``, ``--alpha``, ``--beta`` and ``--model``."""
    parser.add_argument("--elo0", metavar="E", type=real, help="strength under H0 (default 0)")
    parser.add_argument("--elo1", metavar="E", type=real, help="strength under H1 (default 5)")
    parser.add_argument(
        "--alpha", metavar="P", type=real, default=0.05, help="chance of a wrong H1 (default 0.05)"
    )
    parser.add_argument(
        "--beta", metavar="P", type=real, default=0.05, help="chance of a wrong H0 (default 0.05)"
    )
    parser.add_argument(
        "--model",
        choices=("logistic", "normalized"),
        default="logistic",
        help="the scale of --elo0 and --elo1: Elo (default), or nElo",
    )


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "sprt",
        help="a sequential test from counts of wins, draws and losses",
        description="Say what a sequential probability ratio test makes of counts. Without "
        "counts there is nothing to test; to play until it is decided, see gin-sim compare.",
        epilog="example: gin-sim sprt --wdl 880 1863 759 --elo0 0 --elo1 5",
    )
    counts = parser.add_mutually_exclusive_group(required=True)
    count = whole(0, MAX_SEED)
    counts.add_argument(
        "--wdl", metavar=("W", "D", "L"), nargs=3, type=count, help="wins, draws and losses"
    )
    counts.add_argument(
        "--pairs",
        metavar=("LL", "LD", "WLDD", "WD", "WW"),
        nargs=5,
        type=count,
        help="mirrored pairs by the results of both games",
    )
    add_hypotheses(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.sprt import SCALES, Sprt, estimate, finite, score_interval

    test = Sprt(
        0.0 if args.elo0 is None else args.elo0,
        5.0 if args.elo1 is None else args.elo1,
        args.alpha,
        args.beta,
        args.model,
    )
    counts = list(reversed(args.wdl)) if args.wdl else list(args.pairs)
    n, scale = sum(counts), SCALES[args.model]
    if n == 0:
        raise GinSimError("all counts are 0: no data")
    llr = test.llr(counts)
    lower, upper = test.bounds
    decision = test.decide(llr, n)
    shown, score = estimate(counts, args.model), score_interval(counts)
    document = {
        "llr": llr,
        "lower": lower,
        "upper": upper,
        "decision": decision,
        "elo": finite(shown[0]) if shown else None,
        "ci95": [finite(shown[1]), finite(shown[2])] if shown else None,
        "scale": scale,
        "score": score[0] if score else None,
        "score_ci95": list(score[1:]) if score else None,
        "observations": n,
    }
    if args.json:
        return document
    words = {
        "H0": f"H0 accepted: {test.elo0:g}",
        "H1": f"H1 accepted: {test.elo1:g}",
        "continue": "no decision: go on",
    }
    print(f"{words[decision]} ({scale}, {test.elo0:g} against {test.elo1:g})")
    print(f"  LLR       {llr:.3f}  [{lower:.3f}, {upper:.3f}]")
    if shown:
        print(f"  estimate  {shown[0]:+.2f}  [{shown[1]:+.2f}, {shown[2]:+.2f}]  {scale}, 95 %")
    if score:
        low, high = 100 * score[1], 100 * score[2]
        print(f"  score     {100 * score[0]:.2f} %  [{low:.2f}, {high:.2f}]  95 %")
    print(f"  from      {n:,} {'games' if args.wdl else 'pairs'}")
    return document
