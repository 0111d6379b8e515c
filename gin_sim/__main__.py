"""``python -m gin_sim`` is the same as ``gin-sim``."""

import sys

from gin_sim.cli import main

if __name__ == "__main__":
    sys.exit(main())
