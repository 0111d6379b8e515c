"""Agents that are programs in any language: ``cmd:java -jar bot.jar``.

They talk as :mod:`gin_sim.protocol` says and run on the slow path, each with a program of
its own in every worker.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from gin_sim import bot
from gin_sim.errors import AgentError
from gin_sim.knock_rule import KNOCK_RULE
from gin_sim.protocol import IllegalAnswerError, Message, question
from gin_sim.registry import DECISIONS, Agent, read_settings
from gin_sim.rules import Rules
from gin_sim.view import View

PREFIX = "cmd:"
MOST_FILES = 1000
"""In a folder that a command names: of more it is not looked whether they change."""

_SETTING = rf"(?:{'|'.join(KNOCK_RULE)})=[^,:=\s]*"
_SETTINGS = re.compile(rf":({_SETTING}(?:,{_SETTING})*)$")


class Line:
    """A player's line to a program, which is its own while a hand or a game is played.

    Parameters
    ----------
    command : tuple of str
    seconds : float or None
        The limit for a decision; None for that of bots.
    rules : Rules
        What the program is told of them.
    """

    def __init__(self, command: tuple[str, ...], seconds: float | None, rules: Rules) -> None:
        self.command = command
        self.seconds = bot.DECISION_SECONDS if seconds is None else seconds
        self.rules = rules
        self._bot: bot.Bot | None = None
        self._may_have_gone = False
        self._untold: list[Message] = []

    def __reduce__(self) -> tuple[type[Line], tuple[Any, ...]]:
        """Make a copy a line of its own: two players never share a program that plays."""
        return Line, (self.command, self.seconds, self.rules)

    def ask(self, decision: str, view: View, params: Any = None) -> bool | int:
        """Return what the program answers; one that has ended before is started again.

        Raises
        ------
        IllegalAnswerError
            If it gives no answer that can be one, or none in time.
        """
        asked = question(decision, view)
        asking = self.connect()
        again, self._may_have_gone = self._may_have_gone, False
        try:
            return self._ask(asking, asked)
        except bot.GoneError:
            if not again:
                raise
        return self._ask(bot.Bot(self.command), asked)

    def connect(self) -> bot.Bot:
        """Return the program for this player, started if none waits.

        Raises
        ------
        IllegalAnswerError
            If it does not start.
        """
        if self._bot is None:
            # One that waited may end of itself after its last hand, and seem to fail at this.
            self._bot, self._may_have_gone = bot.take(self.command)
        return self._bot

    def _ask(self, asking: bot.Bot, asked: Message) -> bool | int:
        self._bot = None  # lost, should anything go wrong
        try:
            asking.tell_rules(self.rules)
            for message in self._untold:
                asking.tell(message)
            answer = asking.ask(asked, self.seconds)
        except BaseException:
            asking.end()
            raise
        self._untold.clear()
        self._bot = asking
        return answer

    def tell(self, message: Message) -> None:
        """Say something that needs no answer, before the next question or at the end."""
        self._untold.append(message)

    def hang_up(self) -> None:
        """Let others have the program."""
        if self._bot is not None:
            for message in self._untold:
                self._bot.tell(message)
            bot.give_back(self._bot)
        self._bot = None
        self._untold.clear()


@dataclass(frozen=True)
class Question:
    """A decision of a program's, as a function of view and parameters."""

    command: tuple[str, ...]
    decision: str
    _gin_sim_params: ClassVar[dict[str, float]] = {}  # declared, as of decorated agents

    def __call__(self, view: View, params: Any) -> bool | int:
        """Ask a program that is started for it, or one that waits.

        Raises
        ------
        AgentError
            If it gives no answer that can be one, or none in time.
        """
        line = Line(self.command, None, Rules())
        try:
            return line.ask(self.decision, view, params)
        except IllegalAnswerError as error:
            raise AgentError(f"'{shlex.join(self.command)}' {error}") from None
        finally:
            line.hang_up()


def start_once(agent: Agent) -> None:
    """See that the program of an agent starts and greets; it then waits to be asked.

    Raises
    ------
    AgentError
        If it does not.
    """
    if isinstance(agent.draw, Question):
        try:
            bot.give_back(bot.take(agent.draw.command)[0])
        except IllegalAnswerError as error:
            raise AgentError(f"agent '{agent.label}' {error}") from None


@dataclass(frozen=True)
class CommandAgent(Agent):
    """An agent that is a program; made by :func:`command_agent`.

    Attributes
    ----------
    command : tuple of str
        The program and its arguments.
    """

    command: tuple[str, ...] = ()

    @property
    def external(self) -> bool:
        """True: its decisions have a limit of their own."""
        return True

    @property
    def label_with_place(self) -> str:
        """What names this agent on the command line."""
        return self.spec + self.label.removeprefix(self.name)

    def source_hash(self) -> str:
        """Return a hash of the command and of the files and folders that it names."""
        digest = hashlib.sha256()
        for word in self.command:
            digest.update(word.encode() + b"\0")
            value = word.partition("=")[2]
            for part in dict.fromkeys((word, *value.split(os.pathsep), *word.split(os.pathsep))):
                for file in _files(part):
                    digest.update(str(file).encode() + b"\0" + _file_digest(file))
        return digest.hexdigest()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _files(word: str) -> list[Path]:
    """Return the file that a word names, or those in a folder if they are not too many."""
    path = Path(word)
    if not word or not _exists(path):
        return []
    if path.is_file():
        return [path]
    found: list[Path] = []
    for file in path.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            found.append(file)
        if len(found) > MOST_FILES:
            return []
    return sorted(found)


def _file_digest(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").digest()
    except OSError:
        return b"cannot be read"


def _whole_path(word: str) -> str:
    """Return a word that looks like a path and is one as an absolute path."""
    path = Path(word).expanduser() if word.startswith("~") else Path(word)
    if (os.sep in word or "." in word) and _exists(path):
        return os.path.abspath(path)  # noqa: PTH100 - links are left as they are
    return word


def _name(words: list[str]) -> str:
    """Return a name: the words, of paths the last part."""
    shown = "_".join(Path(word).name or word for word in words)
    return re.sub(r"[^\w.+-]+", "_", shown).strip("_")[:60] or "bot"


def command_agent(spec: str) -> Agent:
    """Return the agent that ``cmd:PROGRAM ARGUMENTS`` names.

    The words are as a shell takes them, but no shell is asked.  ``:knock_most=…`` at the end
    puts the knock rule on it that every agent takes.

    Raises
    ------
    AgentError
        If there is no such program.

    Examples
    --------
    >>> command_agent("cmd:cat --show-ends").name
    'cat_--show-ends'
    """
    text = spec.strip().removeprefix(PREFIX)
    found = _SETTINGS.search(text)
    settings = found[1] if found else ""
    if found:
        text = text[: found.start()]
    try:
        words = [_whole_path(word) for word in shlex.split(text)]
    except ValueError as error:
        raise AgentError(f"agent '{spec}': {error}; write cmd:PROGRAM ARGUMENTS") from None
    if not words:
        raise AgentError(f"agent '{spec}': write cmd:PROGRAM ARGUMENTS")
    if "\0" in text or shutil.which(words[0]) is None:
        reason = f"there is no program '{words[0]}' that can be run"
        if Path(words[0]).is_file():
            reason = f"'{words[0]}' is a file that may not be run: chmod +x, or name what runs it"
        raise AgentError(f"agent '{spec}': {reason}")
    command = tuple(words)
    asked = {decision: Question(command, decision) for decision in DECISIONS}
    agent = CommandAgent(
        name=_name(words),
        summary="a program of its own",
        source=shlex.join(words),
        params={},
        compiled=False,
        file=next((word for word in words if Path(word).is_file()), words[0]),
        spec=PREFIX + shlex.join(words),
        command=command,
        **asked,
    )
    return agent.with_params(read_settings(spec, settings)) if settings else agent
