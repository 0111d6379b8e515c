"""``gin-sim tournament``: agents ranked over real hands, with intervals."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_sim.cli.common import read_rules
from gin_sim.cli.play import add_amount, add_play, play, workers_for
from gin_sim.errors import GinSimError

if TYPE_CHECKING:
    from gin_sim.plan import Plan


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "tournament",
        help="play agents against each other and rank them",
        description="Play agents against each other on mirrored deals: everybody against "
        "everybody (two agents: a match), or the first against all others.",
        epilog="an agent is a name (see gin-sim agents), name:param=value,..., "
        "path/to/file.py:name or 'cmd:PROGRAM ARGUMENTS' (docs/protocol.md)",
    )
    parser.add_argument(
        "agents", metavar="AGENT", nargs="*", help="who plays; none named: a ladder of five"
    )
    parser.add_argument(
        "--format",
        choices=("round-robin", "gauntlet", "league"),
        help="round-robin (default); gauntlet: the first against all others; league: a round "
        "robin of whole games (1,000 a pairing if not said)",
    )
    add_amount(parser)
    add_play(parser)
    parser.add_argument(
        "--resume",
        metavar="DIR",
        help="go on with the run in DIR that was stopped; it ends as the same bytes",
    )
    parser.set_defaults(run=run)


def _plan(args: argparse.Namespace) -> Plan:
    """Return the plan that the options ask for; what they leave open is as it was in DIR."""
    from gin_sim.plan import LADDER, make_plan, make_sweep
    from gin_sim.run import Run

    rules = read_rules(args) if args.rules or args.set else None
    if args.resume is None:
        return make_plan(
            args.agents or LADDER,
            hands=args.hands,
            games=args.games,
            rules=rules,
            seed=args.seed,
            on_illegal=args.on_illegal or "error",
            keep_hands=not args.no_hands,
            log=args.log,
            format=args.format or "round-robin",
            decision_seconds=args.time_limit,
        )
    if args.out is not None:
        raise GinSimError("--resume and --out: a run goes on in its own folder")
    before = Run.open(args.resume).plan()
    given = (args.agents, args.hands, args.games, rules, args.on_illegal, args.format)
    more = (args.seed, args.time_limit, args.no_hands, args.log)
    if not any(given) and more == (None, None, False, False):
        return before
    amount: dict[str, Any] = {"games" if before.games else "hands": 2 * before.units}
    if args.hands or args.games:
        amount = {"hands": args.hands, "games": args.games}
    options = amount | {
        "rules": rules or before.rules,
        "seed": before.seed if args.seed is None else args.seed,
        "on_illegal": args.on_illegal or ("forfeit" if before.forgiving else "error"),
        "keep_hands": before.keep_hands and not args.no_hands,
        "log": before.log or args.log,
        "decision_seconds": before.decision_seconds if args.time_limit is None else args.time_limit,
    }
    sweep = before.sweep
    if sweep is not None and not args.agents and args.format is None:
        others = before.agents[len(sweep.values) :]
        return make_sweep(sweep.agent, sweep.param, sweep.values, others, **options)
    how = args.format or ("round-robin" if sweep is not None else before.format)
    return make_plan(args.agents or before.agents, format=how, **options)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.cli.sweep import tell
    from gin_sim.cli.tables import print_result
    from gin_sim.folder import RunFolder, take_folder

    plan = _plan(args)
    workers = workers_for(plan, args)

    def take() -> RunFolder:
        if args.resume is None:
            return take_folder(args.out, plan.name, plan.manifest())
        return RunFolder.resume(Path(args.resume), plan.manifest())

    found = play(plan, workers, take)
    if plan.sweep is not None:
        return tell(found, plain=not args.json)
    document = found.as_dict()
    if not args.json:
        print_result(plan, document)
    return document
