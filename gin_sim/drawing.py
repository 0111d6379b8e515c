"""What all figures share: one style, axes lent or made, "no data", and how one is saved."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE = Path(__file__).with_name("gin_sim.mplstyle")
LONGEST_NAME = 44
# As in the style's cycle; by value, since "C0" is looked up when the style has gone.
BLUE = "#0072B2"
RED = "#D55E00"
GREEN = "#009E73"
PINK = "#CC79A7"


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Draw in the style of gin-sim inside the block."""
    import matplotlib.style  # noqa: PLC0415 - not needed to get help

    with matplotlib.style.context(str(STYLE)):
        yield


@contextlib.contextmanager
def axes_of(ax: Axes | None) -> Iterator[Axes]:
    """Lend the axes given, or new ones."""
    if ax is not None:
        with style():
            yield ax
        return
    import matplotlib as mpl  # noqa: PLC0415
    import matplotlib.pyplot as plt  # noqa: PLC0415

    with style():
        _, own = plt.subplots()
        # A notebook's backend turns this on with its first figure; it has to stay.
        interactive = mpl.is_interactive()
        yield own
    mpl.interactive(interactive)


def save(
    draw: Callable[[Axes], object], path: Path, size: tuple[float, float] = (7.2, 4.4)
) -> None:
    """Draw on a canvas of its own and write it as PNG: no display, the same bytes each time.

    Parameters
    ----------
    draw : callable
        Gets the axes.
    path : Path
    size : (float, float)
        Inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with style(), warnings.catch_warnings():
        # A name may have signs that the font lacks: they are drawn as boxes, quietly.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        draw(figure.add_subplot())
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None})


def caption(ax: Axes, text: str) -> None:
    """Say below a figure what it stands on."""
    ax.set_xlabel(f"{ax.get_xlabel()}\n{text}")


def no_data(ax: Axes, title: str) -> Axes:
    """Draw that there is nothing to draw."""
    ax.set_title(title)
    ax.set_axis_off()
    ax.text(0.5, 0.5, "no data", ha="center", va="center", transform=ax.transAxes)
    return ax


def plain(name: object) -> str:
    """Return a name as matplotlib is to print it: not too long, no formula, not hidden."""
    text = str(name)
    text = text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
    # A legend leaves out what begins with a line below.
    return (" " + text if text.startswith("_") else text).replace("$", r"\$")


def heat_map(
    ax: Axes, x: Any, y: Any, values: Any, labels: tuple[str, str, str], diverging: bool
) -> None:
    """Draw a heat map of values at whole x and y; cells without a value stay white."""
    columns, rows = np.arange(x.min(), x.max() + 1), np.arange(y.min(), y.max() + 1)
    grid = np.full((rows.size, columns.size), np.nan)
    grid[y - rows[0], x - columns[0]] = values
    seen = np.abs(grid[np.isfinite(grid)])
    # A few cells with little data must not take all the colour there is.
    most = float(np.quantile(seen, 0.95)) if seen.size else 1.0
    limits = {"vmin": -most, "vmax": most, "cmap": "PuOr"} if diverging else {"vmin": 0.0}
    image = ax.pcolormesh(columns, rows, grid, shading="nearest", **limits)
    ax.figure.colorbar(image, ax=ax, label=labels[2], extend="both" if diverging else "neither")
    ax.grid(visible=False)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
