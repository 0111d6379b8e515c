"""``gin-sim report``: a run's folder as tables, figures and one page."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "report",
        help="write tables, figures and a page for a run",
        description="Write tables, figures and a self-contained report.html for a run.",
    )
    parser.add_argument("dir", metavar="DIR", help="the folder of the run")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.report import write_report

    print(f"report: {write_report(args.dir)}")
