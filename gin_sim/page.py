"""A report as it is put together, and written twice: as a page, and as Markdown.

``report.html`` holds its figures and its style in itself: it opens from disk, without a
network, and can be sent to somebody.  ``report.md`` says the same in what can be committed,
or pasted into an issue; its figures are those in ``figures/``.  Both come from one list of
parts.
"""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_sim.drawing import save
from gin_sim.errors import ResultsError
from gin_sim.folder import RunFolder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

REPORT = "report.html"
MARKDOWN = "report.md"

_CSS = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60em; margin: 2em auto;
  padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; }
table { border-collapse: collapse; font-size: 0.9em; }
.wide { overflow-x: auto; }
th, td { padding: 0.25em 0.7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
img { max-width: 100%; height: auto; }
code, pre { font-size: 0.9em; background: #f4f4f4; padding: 0.1em 0.3em; }
pre { padding: 0.7em; overflow-x: auto; }
"""


@dataclass(frozen=True)
class Heading:
    """The beginning of a section."""

    text: str

    def html(self) -> str:
        """Return it as HTML."""
        return f"<h2>{html.escape(self.text)}</h2>"

    def markdown(self) -> str:
        """Return it as Markdown."""
        return f"## {escape_markdown(self.text)}"


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str

    def html(self) -> str:
        """Return it as HTML."""
        return f"<p>{html.escape(self.text)}</p>"

    def markdown(self) -> str:
        """Return it as Markdown."""
        # At its beginning, a sign or a number with a point would begin a list.
        return re.sub(r"^(\d*)([-+>.)])(?=\s)", r"\1\\\2", escape_markdown(self.text))


@dataclass(frozen=True)
class Code:
    """A line to be typed."""

    text: str

    def html(self) -> str:
        """Return it as HTML."""
        return f"<pre>{html.escape(self.text)}</pre>"

    def markdown(self) -> str:
        """Return it as Markdown, in a fence that nothing in it can close."""
        ticks = max(map(len, re.findall("`+", self.text)), default=0)
        fence = "`" * max(3, ticks + 1)
        return f"{fence}\n{self.text}\n{fence}"


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> str:
        """Return it as HTML."""
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in self.rows
        )
        return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'

    def markdown(self) -> str:
        """Return it as Markdown: the first column to the left, the others to the right."""
        marks = [":---", *(["---:"] * (len(self.columns) - 1))]
        lines = [map(escape_markdown, self.columns), marks]
        lines += [map(escape_markdown, row) for row in self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True)
class Picture:
    """A figure, which lies in the run's folder as PNG."""

    name: str
    path: str
    png: bytes

    def html(self) -> str:
        """Return it as HTML, with the figure in it."""
        data = base64.b64encode(self.png).decode()
        return f'<p><img alt="{html.escape(self.name)}" src="data:image/png;base64,{data}"></p>'

    def markdown(self) -> str:
        """Return it as Markdown: a link from the folder of the run."""
        return f"![{escape_markdown(self.name)}]({self.path})"


@dataclass
class Page:
    """A report as it is put together: texts, tables and figures in their order.

    Attributes
    ----------
    folder : RunFolder
        Where figures and tables are written.
    """

    folder: RunFolder
    title: str
    parts: list[Heading | Text | Code | Table | Picture] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.parts.append(Heading(text))

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(Text(text))

    def code(self, text: str) -> None:
        """Add a line to be typed."""
        self.parts.append(Code(text))

    def table(
        self, name: str, table: pd.DataFrame, shown: Sequence[dict[str, Any]] | None = None
    ) -> None:
        """Add a table, and write it as CSV.

        Parameters
        ----------
        name : str
            Of the file in ``tables/``.
        table : DataFrame
            With all digits, for the file.
        shown : sequence of dict, optional
            Rows as a reader wants them, by column; those of the table if not given.
        """
        text = table.to_csv(index=False, lineterminator="\n")
        self.folder.write_text(f"tables/{_file_name(name)}.csv", text)
        if table.empty:
            self.text("no data")
            return
        columns = [str(column).replace("_", " ") for column in table.columns]
        rows = [list(row) for row in table.itertuples(index=False, name=None)]
        if shown is not None:
            columns = list(shown[0])
            rows = [list(row.values()) for row in shown]
        self.parts.append(Table(columns, [[show(value) for value in row] for row in rows]))

    def figure(
        self, name: str, draw: Callable[[Axes], object], size: tuple[float, float] = (7.2, 4.4)
    ) -> None:
        """Add a figure, and write it as PNG."""
        file = f"figures/{_file_name(name)}.png"
        path = self.folder.path / file
        try:
            save(draw, path, size)
            png = path.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ResultsError(f"'{path}' cannot be written: {reason}") from error
        self.parts.append(Picture(name.replace("_", " "), file, png))

    def as_html(self) -> str:
        """Return the page as HTML that stands alone."""
        title = html.escape(self.title)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{_CSS}</style></head><body>\n<h1>{title}</h1>\n"
            + "\n".join(part.html() for part in self.parts)
            + "\n</body></html>\n"
        )

    def as_markdown(self) -> str:
        """Return the page as Markdown, to be read in the folder of the run."""
        title = f"# {escape_markdown(self.title)}"
        return "\n\n".join([title, *(part.markdown() for part in self.parts)]) + "\n"

    def write(self) -> Path:
        """Write the page both ways and return where the HTML is."""
        self.folder.write_text(MARKDOWN, self.as_markdown())
        self.folder.write_text(REPORT, self.as_html())
        return self.folder.path / REPORT


def made_with(page: Page, manifest: dict[str, Any]) -> None:
    """Say how the run is made again."""
    page.heading("Made with")
    page.code(str(manifest.get("command")))
    versions = manifest.get("versions")
    if isinstance(versions, dict):
        page.text(", ".join(f"{name} {version}" for name, version in versions.items()))


def _file_name(name: str) -> str:
    """Return a name as part of a file's name, whatever an agent is called."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:80]


def escape_markdown(text: str) -> str:
    r"""Return a text of one line that Markdown shows as it is.

    Examples
    --------
    >>> print(escape_markdown("a|b <i> x_1*2 $y$"))
    a\|b &lt;i> x\_1\*2 \$y\$
    """
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"[\\|`*_\[\]$~#]", r"\\\g<0>", line)


def show(value: Any) -> str:
    """Return a cell's value as a reader wants it.

    Examples
    --------
    >>> [show(value) for value in (None, float("nan"), True, 12345, 0.5, 2.0, "x")]
    ['–', '–', 'yes', '12,345', '0.500', '2', 'x']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:,.3f}" if value != int(value) or abs(value) < 1 else f"{value:,.0f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
