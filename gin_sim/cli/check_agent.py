"""``gin-sim check-agent``: an agent played through all that it has to stand."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gin_sim.checks import MAX_SEED
from gin_sim.cli.common import add_json, add_time_limit, real, whole
from gin_sim.errors import GinSimError

if TYPE_CHECKING:
    from gin_sim.findings import Finding

MOST_SECONDS = 86_400


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check-agent",
        help="play an agent through legality, determinism, timing and awkward hands",
        description="Play an agent through every preset and odd rules, awkward hands and views, "
        "the same deals twice, and take the time of its decisions. Exits with 1 if anything "
        "fails.",
        epilog="example: gin-sim check-agent 'cmd:java -jar bot.jar'",
    )
    parser.add_argument("agent", metavar="AGENT", help="as for gin-sim tournament")
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=real,
        default=30.0,
        help="about how long a Python agent or a program is played (default 30)",
    )
    parser.add_argument("--seed", metavar="S", type=whole(0, MAX_SEED), default=11)
    add_time_limit(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.battery import check_agent

    if not 0 <= args.seconds <= MOST_SECONDS:
        raise GinSimError(f"--seconds {args.seconds:g}: allowed is 0..{MOST_SECONDS}")
    found = check_agent(
        args.agent,
        seconds=args.seconds,
        seed=args.seed,
        time_limit=args.time_limit,
        report=None if args.json else tell,
    )
    args.exit_code = 0 if found.passed else 1
    if not args.json:
        failed = sum(not finding.passed for finding in found.findings)
        what = "clean" if found.passed else f"{failed} of {len(found.findings)} checks failed"
        print(f"{found.agent.label}: {what}")
    return found.as_dict()


def tell(finding: Finding) -> None:
    """Print a finding."""
    print(f"{'pass' if finding.passed else 'FAIL'}  {finding.check}: {finding.detail}", flush=True)
    for name, text in (("again", finding.replay), ("asked", finding.asked)):
        if text:
            print(f"      {name}: {text}", flush=True)
