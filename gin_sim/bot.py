"""A program in another language that plays: started, asked, and ended whatever happens.

Each is behind a :mod:`gin_sim.keeper`, so that none outlives this process.  Programs that
nobody needs at the moment wait to be asked again, and end after some seconds.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import subprocess
import sys
import threading
import time
from pathlib import Path

from gin_sim.limits import took_longer
from gin_sim.protocol import (
    IllegalAnswerError,
    Message,
    check_hello,
    encode,
    hello,
    quoted,
    read_answer,
    rules_told,
)
from gin_sim.rules import Rules

DECISION_SECONDS = 10.0
"""What a decision may take if nobody says otherwise: enough on a machine that is busy."""
HELLO_SECONDS = 30.0
"""What a bot may take to start and to greet: machines for Java's code are slow to start."""
QUIT_SECONDS = 0.5
"""What a bot may take to end after it was told so; then it is ended."""
IDLE_SECONDS = 5.0
"""After so long a bot that nobody asks is told to end."""

MOST_LINE = 1 << 16
_BLOCK = 1 << 16
_KEPT = 2000  # bytes of stderr
_KEEPER = str(Path(__file__).with_name("keeper.py"))


class GoneError(IllegalAnswerError):
    """A bot that ended, or closed its output, before it answered."""


class Bot:
    """A program that runs; whoever has it is the only one that asks it.

    Parameters
    ----------
    command : tuple of str
        The program and its arguments.

    Raises
    ------
    IllegalAnswerError
        If it does not start or does not greet.
    """

    def __init__(self, command: tuple[str, ...]) -> None:
        if not hasattr(os, "killpg"):
            raise IllegalAnswerError("cannot be started: bots need Unix's process groups")
        self.command = command
        self.rules: Rules | None = None
        self.idle_since = 0.0
        self._asked = 0
        self._unsent, self._said, self._errors = b"", b"", b""
        ours, alive = os.pipe()
        self._alive = alive
        try:
            self._keeper = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", _KEEPER, str(ours), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(ours,),
                start_new_session=True,
            )
        except OSError as error:
            self._release()
            raise IllegalAnswerError(f"cannot be started: {error.strerror or error}") from None
        finally:
            os.close(ours)
        streams = (self._keeper.stdin, self._keeper.stdout, self._keeper.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in streams if stream)
        self._selector = selectors.DefaultSelector()
        for number in (self._in, self._out, self._err):
            os.set_blocking(number, False)
        for number in (self._out, self._err):
            self._selector.register(number, selectors.EVENT_READ)
        with _lock:
            _running.add(self)
        try:
            self.tell(hello())
            check_hello(self._line(HELLO_SECONDS, "hello"))
        except BaseException:
            self.end()
            raise

    def ask(self, question: Message, seconds: float) -> bool | int:
        """Return what the bot answers.

        Raises
        ------
        GoneError
            If it has ended.
        IllegalAnswerError
            For any other answer that is none, and for none in time.  It is then of no use
            any more, and to be ended.
        """
        self._asked += 1
        asked = {**question, "id": self._asked, "seconds": seconds}
        self.tell(asked)
        what = f"{question['decision']} (allowed: {question['allowed']})"
        return read_answer(self._line(seconds, what), asked)

    def tell(self, message: Message) -> None:
        """Say something that needs no answer; what the pipe does not take now goes later."""
        self._unsent += encode(message)
        self._send()

    def tell_rules(self, rules: Rules) -> None:
        """Tell the rules, if they are not those told last."""
        if self.rules != rules:
            self.tell(rules_told(rules))
            self.rules = rules

    def _send(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent = b""  # of a bot that has gone, the end of its output tells
        if bool(self._unsent) != (self._in in self._selector.get_map()):
            if self._unsent:  # the pipe is full: the rest goes as soon as the bot has read
                self._selector.register(self._in, selectors.EVENT_WRITE)
            else:
                self._selector.unregister(self._in)

    def _line(self, seconds: float, what: str) -> bytes:
        """Return the next line that the bot says, which is to be an answer to something.

        Raises
        ------
        GoneError, IllegalAnswerError
        """
        deadline = time.monotonic() + seconds
        while True:
            at = self._said.find(b"\n")
            if 0 <= at < MOST_LINE:
                line, self._said = self._said[:at], self._said[at + 1 :]
                return line
            if len(self._said) >= MOST_LINE:
                raise IllegalAnswerError(
                    f"answered {quoted(self._said)} to {what}, "
                    f"a line of more than {MOST_LINE:,} bytes{self._last_words()}"
                )
            left = deadline - time.monotonic()
            # What has come is looked at first: this process may have had to wait, not the bot.
            ready = {key.fd for key, _ in self._selector.select(max(left, 0.0))}
            if self._unsent:
                self._send()
            if self._err in ready:
                self._read_errors()
            if self._out in ready:
                block = os.read(self._out, _BLOCK)
                if not block:
                    raise GoneError(f"{self._how_it_ended()} {what}{self._last_words()}")
                self._said += block
            elif left <= 0:
                raise IllegalAnswerError(f"{took_longer(seconds)} for {what}{self._last_words()}")

    def _read_errors(self) -> bool:
        """Take what there is on stderr; return whether there may be more."""
        try:
            block = os.read(self._err, _BLOCK)
        except BlockingIOError:
            return False
        if not block and self._err in self._selector.get_map():
            self._selector.unregister(self._err)
        self._errors = (self._errors + block)[-_KEPT:]
        return bool(block)

    def _how_it_ended(self) -> str:
        try:
            code = self._keeper.wait(1)
        except subprocess.TimeoutExpired:
            return "closed its output before it answered"
        ended = f"by signal {code - 128}" if code > 128 else f"with exit code {code}"
        return f"ended {ended} before it answered"

    def _last_words(self) -> str:
        """Return the last lines of stderr, as the end of a sentence."""
        for _ in range(64):  # a bot that floods has always more
            if not self._read_errors():
                break
        lines = [
            " ".join(line.split()) for line in self._errors.decode(errors="replace").split("\n")
        ]
        text = " | ".join([line for line in lines if line][-3:])
        return f"; its last words on stderr: {quoted(text[-200:].encode())}" if text else ""

    @property
    def runs(self) -> bool:
        """Whether the program has not ended."""
        return self._alive >= 0 and self._keeper.poll() is None

    def quit(self) -> None:
        """Tell the bot to end, and wait for it; it is ended if it does not in time."""
        if self.runs:
            self.tell({"type": "quit"})
            if self._keeper.stdin is not None:
                self._keeper.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._keeper.wait(QUIT_SECONDS)
        self.end()

    def end(self) -> None:
        """End the bot, and all that it started, and wait until it is gone."""
        self._release()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.wait(QUIT_SECONDS + 5)
        self._selector.close()
        for stream in (self._keeper.stdin, self._keeper.stdout, self._keeper.stderr):
            if stream is not None:
                stream.close()
        with _lock:
            _running.discard(self)

    def _release(self) -> None:
        """Let the keeper know."""
        alive, self._alive = self._alive, -1
        if alive >= 0:
            os.close(alive)


_lock = threading.RLock()
_running: set[Bot] = set()
_idle: dict[tuple[str, ...], list[Bot]] = {}
_ender: threading.Thread | None = None


def take(command: tuple[str, ...]) -> tuple[Bot, bool]:
    """Return a bot for somebody alone, and whether it has been asked before.

    Raises
    ------
    IllegalAnswerError
        If a new one does not start.
    """
    while True:
        with _lock:
            waiting = _idle.get(command)
            bot = waiting.pop() if waiting else None
        if bot is None:
            return Bot(command), False
        if bot.runs:
            return bot, True
        bot.end()


def give_back(bot: Bot) -> None:
    """Let a bot wait for whoever takes it next."""
    global _ender  # noqa: PLW0603 - one thread for all of them
    bot.idle_since = time.monotonic()
    with _lock:
        _idle.setdefault(bot.command, []).append(bot)
        if _ender is None:
            _ender = threading.Thread(target=_end_old, name="gin-sim bots", daemon=True)
            _ender.start()


def _end_old() -> None:
    """End those that have been idle for long, until there are none left."""
    global _ender  # noqa: PLW0603
    while True:
        time.sleep(IDLE_SECONDS / 5)
        quit_idle(IDLE_SECONDS)
        with _lock:
            if not any(_idle.values()):
                _ender = None
                return


def quit_idle(seconds: float = 0.0) -> None:
    """End all bots that nobody has taken for so long."""
    before = time.monotonic() - seconds
    with _lock:
        old = [bot for some in _idle.values() for bot in some if bot.idle_since <= before]
        for some in _idle.values():
            some[:] = [bot for bot in some if bot not in old]
    for bot in old:
        bot.quit()


@atexit.register
def _end_all() -> None:
    quit_idle()
    with _lock:
        left = list(_running)
    for bot in left:  # asked by a thread that is left behind
        bot.end()
