"""The command line; see :mod:`gin_sim.cli.main`."""

from gin_sim.cli.main import main

__all__ = ["main"]
