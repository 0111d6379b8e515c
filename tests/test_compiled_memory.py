"""Compiled functions and the memory they make.

A record taken out of an array does not keep the array: numba lets it go after its last use,
and what is read there next is anybody's.  So a compiled function that makes an array of
records hands it on, and takes no record out of it itself.
"""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import numpy as np
import pytest

from agents.tuned import WEIGHTS
from gin_sim import load_agent, shuffled_deck
from gin_sim.lookahead import MOST_ACTIONS, play_on
from tests.helpers import scaled, table
from tests.test_search import effort

HOME = Path(__file__).resolve().parent.parent
FILES = sorted(p for d in ("gin_sim", "agents", "experiments") for p in (HOME / d).rglob("*.py"))
ARRAYS = {"empty", "zeros", "ones", "full", "array", "empty_like", "zeros_like"}


def compiled_functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Return the functions with the decorator that compiles."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list}
            if names & {"kernel", "njit", "jit"}:
                found.append(node)
    return found


def name_of(call: ast.expr) -> str:
    """Return the name of what is called, "" for anything else."""
    if not isinstance(call, ast.Call):
        return ""
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def makes_records(call: ast.expr, makers: set[str]) -> bool:
    """Return whether an expression makes an array of records."""
    name = name_of(call)
    if name in ARRAYS:
        return any("DTYPE" in ast.dump(one) for one in ast.walk(call))
    return name in makers


def makers_in(functions: list[ast.FunctionDef]) -> set[str]:
    """Return the names of compiled functions that return an array of records they made."""
    makers: set[str] = set()
    while True:
        more = {
            one.name
            for one in functions
            for node in ast.walk(one)
            if isinstance(node, ast.Return) and node.value and makes_records(node.value, makers)
        }
        if more <= makers:
            return makers
        makers |= more


def taken_out(function: ast.FunctionDef, makers: set[str]) -> list[int]:
    """Return the lines where a record is taken out of an array that the function made."""
    own = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and makes_records(node.value, makers)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and (makes_records(node.value, makers) or getattr(node.value, "id", "") in own)
    ]


def faults(text: str, makers: set[str] | None = None) -> list[int]:
    """Return the lines of a program that take a record out of memory that may go."""
    functions = compiled_functions(ast.parse(text))
    known = makers_in(functions) if makers is None else makers
    return sorted(line for one in functions for line in taken_out(one, known))


MADE = """
@kernel
def new_rules():
    return np.empty(1, RULES_DTYPE)
@kernel
def again():
    return new_rules()
"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("rules = new_rules()[0]", [10]),
        ("rules = again()[0]", [10]),
        ("rules = np.zeros(1, dtype=RULES_DTYPE)[0]", [10]),
        ("rules = new_rules()\n    return rules[0].limit", [11]),
        ("return inner(new_rules(), best(view)[0], np.zeros(4)[1])", []),
    ],
)
def test_the_look_sees_what_it_is_for(body: str, lines: list[int]) -> None:
    assert faults(f"{MADE}@kernel\ndef f(view):\n    {body}\n") == lines
    assert faults(f"{MADE}def f(view):\n    {body}\n") == []  # numpy keeps what it gave


def test_no_compiled_function_takes_a_record_out_of_what_it_made() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    functions = [one for text in texts.values() for one in compiled_functions(ast.parse(text))]
    assert len(functions) > 100
    makers = makers_in(functions)
    assert {"new_states", "new_rules"} <= makers
    found = [f"{path}:{line}" for path, text in texts.items() for line in faults(text, makers)]
    assert found == []


def test_a_thread_of_its_own_finds_what_the_first_one_found() -> None:
    """Memory that is used for the first time by a thread is where it would be seen."""
    tuned = load_agent("tuned")
    deal = table(shuffled_deck(5, 0), key=0)
    views = [asked.view for asked in deal.play(tuned, tuned) if asked.name == "draw"][:4]
    asked_for = effort(worlds=scaled(64, 2), sure=1e9)

    def found() -> list[list[float]]:
        rows = np.zeros((len(views), MOST_ACTIONS))
        for row, view in zip(rows, views, strict=True):
            in_play = np.ones(MOST_ACTIONS, bool)
            play_on(view, np.array([0, 1]), np.zeros(2), 2, asked_for, WEIGHTS, row, in_play)
        return [list(row) for row in rows]

    found()
    expected, others = found(), []
    for _ in range(scaled(12, 2)):
        thread = threading.Thread(target=lambda: others.append(found()))
        thread.start()
        thread.join()
    assert all(one == expected for one in others)
    assert len(others) == scaled(12, 2)
