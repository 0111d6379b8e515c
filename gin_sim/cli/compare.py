"""``gin-sim compare``: two agents, until it is decided which is the stronger."""

from __future__ import annotations

import argparse
from typing import Any

from gin_sim.checks import MAX_SEED, MAX_UNITS
from gin_sim.cli.common import (
    add_json,
    add_rules,
    add_time_limit,
    add_workers,
    note_no_limit,
    read_rules,
    real,
    whole,
)
from gin_sim.cli.sprt import add_hypotheses
from gin_sim.errors import GinSimError
from gin_sim.progress import note, progress

DEFAULT_MAX_HANDS = 1_000_000


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "compare",
        help="play two agents until a sequential test decides",
        description="Play mirrored deals between two agents until a sequential probability "
        "ratio test decides, or the cap is reached. Without hypotheses: 0 against 0.5 points "
        "a hand for the first.",
        epilog="example: gin-sim compare gin_only simple --points0 0 --points1 1",
    )
    parser.add_argument("agents", metavar="AGENT", nargs=2, help="as for gin-sim tournament")
    add_hypotheses(parser)
    parser.add_argument("--points0", metavar="P", type=real, help="points a hand under H0")
    parser.add_argument("--points1", metavar="P", type=real, help="points a hand under H1")
    parser.add_argument(
        "--max-hands",
        metavar="N",
        type=whole(2, MAX_UNITS),
        default=DEFAULT_MAX_HANDS,
        help="stop without a decision after so many (default 1,000,000)",
    )
    add_rules(parser)
    parser.add_argument("--seed", metavar="S", type=whole(0, MAX_SEED), help="drawn if not given")
    add_workers(parser)
    parser.add_argument("--on-illegal", choices=("error", "forfeit"), default="error")
    add_time_limit(parser)
    add_json(parser)
    parser.set_defaults(run=run, model=None)


def read_test(args: argparse.Namespace) -> Any:
    """Return the test that the options ask for."""
    from gin_sim.compare import PointsTest
    from gin_sim.sprt import Sprt

    elo = args.elo0 is not None or args.elo1 is not None
    points = args.points0 is not None or args.points1 is not None
    if elo and points:
        raise GinSimError("give the hypotheses in Elo (--elo0, --elo1) or in points, not both")
    if points and args.model is not None:
        raise GinSimError(
            f"--model {args.model} is a scale of Elo: not with --points0 and --points1"
        )
    if elo or args.model is not None:
        low, high = args.elo0, args.elo1
        return Sprt(
            0.0 if low is None else low,
            5.0 if high is None else high,
            args.alpha,
            args.beta,
            args.model or "logistic",
        )
    low, high = args.points0, args.points1
    return PointsTest(
        0.0 if low is None else low, 0.5 if high is None else high, args.alpha, args.beta
    )


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.compare import compare_plan
    from gin_sim.plan import make_plan
    from gin_sim.workers import Workers

    test = read_test(args)
    plan = make_plan(
        args.agents,
        hands=args.max_hands,
        rules=read_rules(args),
        seed=args.seed,
        on_illegal=args.on_illegal,
        keep_hands=False,
        decision_seconds=args.time_limit,
    )
    workers = Workers.choose(args.jobs, args.backend, args.scheduler, compiled=plan.compiled)
    plan.check_workers(workers)
    note_no_limit(plan)
    note(f"{' v '.join(plan.labels)}, at most {2 * plan.units:,} hands, seed {plan.seed}")
    so_far: list[Any] = []
    try:
        with progress("hands") as report:
            found = compare_plan(plan, test, workers, report, so_far)
    except KeyboardInterrupt:
        if so_far:
            note("stopped by hand: no decision")
            for line in told(so_far[0].as_dict()):
                note(line)
        raise
    document: dict[str, Any] = found.as_dict()
    if not args.json:
        for line in told(document):
            print(line)
    return document


def told(document: dict[str, Any]) -> list[str]:
    """Return a comparison in words."""
    scale = document["scale"]
    words = {"H0": f"H0 accepted: {document['h0']:g}", "H1": f"H1 accepted: {document['h1']:g}"}
    decision = words.get(document["decision"], "no decision")
    lines = [
        f"{document['a']} v {document['b']}: {decision} "
        f"({scale}, {document['h0']:g} against {document['h1']:g})",
        f"  LLR       {document['llr']:.3f}  [{document['lower']:.3f}, {document['upper']:.3f}]",
    ]
    if document["ci95"]:
        shown = [document["estimate"], *document["ci95"]]
        at, low, high = ("-" if value is None else f"{value:+.3f}" for value in shown)
        lines.append(f"  estimate  {at}  [{low}, {high}]  {scale}, 95 %, median-unbiased")
    if document["points_per_hand"] is not None:
        lines.append(f"  points    {document['points_per_hand']:+.3f} a hand, as they fell")
    pairs = ", ".join(f"{count:,}" for count in document["pairs"])
    lines.append(f"  deals     {document['deals']:,}; by result LL, LD, LW or DD, WD, WW: {pairs}")
    lines.append(f"  seed      {document['seed']}")
    return lines
