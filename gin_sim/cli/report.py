"""``gin-sim report``: a run's folder as tables, figures and one page."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "report",
        help="write tables, figures and a page for a run",
        description="Write tables, figures, a self-contained report.html and the same as report.md "
        "for a run, finished or not.",
    )
    parser.add_argument("dir", metavar="DIR", help="the folder of the run")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.page import MARKDOWN
    from gin_sim.report import write_report

    page = write_report(args.dir)
    print(f"report: {page}")
    print(f"        {page.with_name(MARKDOWN)}")
