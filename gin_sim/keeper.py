"""Stands between gin-sim and a program that it started, and lets nothing of it be left.

Run as a file, without the package, so that it starts at once.  It starts the program in a
process group of its own and ends that group when the program ends, or when gin-sim does,
in whatever way: a pipe that gin-sim holds open is closed then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def _end_group(group: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)


def keep(alive: int, words: list[str]) -> int:
    """Run a program to its end, or to that of the pipe.

    Parameters
    ----------
    alive : int
        The end to read of a pipe to which nothing is written.
    words : list of str
        The program and its arguments.

    Returns
    -------
    int
        The exit code, or minus the signal that ended it.
    """
    try:
        program = subprocess.Popen(words, start_new_session=True)  # noqa: S603
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror or error}\n".encode(errors="replace"))
        return 127
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        # Held open here, they would hide from gin-sim that the program has gone.
        os.dup2(nowhere, stream)

    def watch() -> None:
        os.read(alive, 1)
        _end_group(program.pid)

    threading.Thread(target=watch, daemon=True).start()
    if hasattr(os, "waitid"):  # not on every macOS
        # Seen, not yet collected: until it is, nobody else can get its number.
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        _end_group(program.pid)
        return program.wait()
    code = program.wait()
    _end_group(program.pid)
    return code


if __name__ == "__main__":
    code = keep(int(sys.argv[1]), sys.argv[2:])
    os._exit(code if code >= 0 else 128 - code)
