"""``gin-sim sweep``: one agent over values of a parameter, on the same deals."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from gin_sim.cli.common import print_table, read_rules
from gin_sim.cli.play import add_amount, add_play, play, workers_for
from gin_sim.errors import GinSimError, ResultsError
from gin_sim.wording import with_interval

if TYPE_CHECKING:
    from gin_sim.result import Result


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "sweep",
        help="play one agent over values of a parameter",
        description="Play an agent with each value of a parameter against the same opponents "
        "on the same deals. The figure is figures/sweep.png in the folder of the run.",
        epilog="example: gin-sim sweep early_gin turns 0:12 --against simple gin_only",
    )
    parser.add_argument("agent", metavar="AGENT", help="as for gin-sim tournament")
    parser.add_argument(
        "param", metavar="PARAM", help="one of its parameters, or knock_most or knock_stock"
    )
    parser.add_argument("values", metavar="VALUES", help="0,2,4 or FIRST:LAST or FIRST:LAST:STEP")
    parser.add_argument(
        "--against", metavar="AGENT", nargs="+", required=True, help="the opponents of each"
    )
    add_amount(parser)
    add_play(parser)
    parser.set_defaults(run=run)


def read_values(text: str) -> list[float]:
    """Read a list or a range of numbers; both ends of a range are in it.

    Raises
    ------
    GinSimError
        Naming what is none.
    """
    from gin_sim.plan import MOST_VALUES

    try:
        if ":" not in text:
            return [float(Decimal(part)) for part in text.split(",")]
        first, last, step = (*map(Decimal, text.split(":")), Decimal(1))[:3]
        count = int((last - first) / step) + 1
        if text.count(":") <= 2 and step > 0 and 0 < count <= MOST_VALUES:
            return [float(first + step * i) for i in range(count)]
    except (InvalidOperation, ArithmeticError, ValueError):
        pass
    raise GinSimError(
        f"values {text!r}: write 0,2,4 or FIRST:LAST or FIRST:LAST:STEP, at most {MOST_VALUES}"
    )


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.folder import take_folder
    from gin_sim.plan import make_sweep

    plan = make_sweep(
        args.agent,
        args.param,
        read_values(args.values),
        args.against,
        hands=args.hands,
        games=args.games,
        rules=read_rules(args),
        seed=args.seed,
        on_illegal=args.on_illegal or "error",
        keep_hands=not args.no_hands,
        log=args.log,
        decision_seconds=args.time_limit,
    )
    workers = workers_for(plan, args)
    found = play(plan, workers, lambda: take_folder(args.out, plan.name, plan.manifest()))
    return tell(found, plain=not args.json)


def tell(found: Result, *, plain: bool) -> dict[str, Any]:
    """Draw the figure of a sweep, print its table if it is to be, and return the document.

    Raises
    ------
    ResultsError
        If the figure cannot be written; the run itself is finished then.
    """
    from functools import partial

    from gin_sim.drawing import save
    from gin_sim.figures import sweep

    plan, document = found.plan, found.as_dict()
    if plan.sweep is None or found.out is None:
        raise GinSimError("the run is no sweep in a folder")
    figure = found.out / "figures" / "sweep.png"
    if plain:
        rows = [
            [
                f"{value:g}",
                pairing["b"],
                with_interval(pairing["points_per_hand"], pairing["ci95"]),
                f"{pairing['a_hand_wins'] / pairing['hands']:.1%}",
                *([f"{pairing['a_game_wins']:,}-{pairing['b_game_wins']:,}"] * plan.games),
            ]
            for value, pairing in zip(found.sweep["value"], document["pairings"], strict=True)
        ]
        columns = [plan.sweep.param, "against", "points a hand (95 %)", "hands won"]
        print_table("", [*columns, *(["games"] * plan.games)], rows)
        print(f"results: {document['out']}")
        print(f"again:   {document['command']}")
    try:
        save(partial(sweep, found.sweep, plan.sweep.param), figure)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        failure = ResultsError(f"'{figure}' cannot be written: {reason}; the run is finished")
        failure.exit_code = 1
        raise failure from error
    if plain:
        print(f"figure:  {figure}")
    return document
