"""A run as its folder tells it: checked, and made a plan again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gin_sim.checks import MAX_SEED
from gin_sim.errors import GinSimError, ResultsError, RulesError
from gin_sim.folder import read_again, stored_pieces, stored_sums
from gin_sim.limits import decision_limit
from gin_sim.manifest import MANIFEST, read_manifest
from gin_sim.plan import FORMATS, Plan, make_plan, make_sweep, meetings
from gin_sim.registry import load_agent
from gin_sim.rules import Rules
from gin_sim.scoring import MAX_GAME_HANDS
from gin_sim.sums import Sums, block_units


@dataclass(frozen=True)
class Run:
    """A run as its manifest tells it."""

    path: Path
    manifest: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Read the manifest of a run's folder.

        Raises
        ------
        ResultsError
            If there is none, or something in it cannot be.
        """
        manifest = read_manifest(path)
        file = Path(path) / MANIFEST
        problem = _problem(manifest)
        if problem:
            raise ResultsError(f"'{file}': {problem}")
        try:
            Rules(**manifest["rules"])
        except (TypeError, RulesError) as error:
            raise ResultsError(f"'{file}': rules: {error}") from error
        return cls(Path(path), manifest)

    @property
    def games(self) -> bool:
        """Whether games were played."""
        return "games" in self.manifest

    @property
    def rules(self) -> Rules:
        """The rules of the run."""
        return Rules(**self.manifest["rules"])

    @property
    def pairings(self) -> list[str]:
        """The pairings by name."""
        return list(self.manifest["pairings"])

    @property
    def labels(self) -> list[str]:
        """The agents by name."""
        return [str(entry["label"]) for entry in self.manifest["agents"]]

    @property
    def units(self) -> int:
        """How many mirrored deals (pairs of games) a pairing has when the run is finished."""
        return int(self.manifest["games" if self.games else "hands"]) // 2

    def sums(self) -> Sums:
        """Return all that is counted so far; nothing in the folder is touched.

        Raises
        ------
        ResultsError
            If something in the files of the run cannot be.
        """
        return read_again(self._sums)

    def _sums(self) -> Sums:
        sums = Sums(_meetings(self.manifest), len(self.labels), self.games, block_units(self.units))
        try:
            # In this order, a part that becomes whole meanwhile is neither missed nor
            # counted twice.
            pieces = [(piece.part, piece.sums) for _, piece in stored_pieces(self.path)]
            whole = dict(stored_sums(self.path))
            for values in (*whole.values(), *(one for part, one in pieces if part not in whole)):
                sums.add_dict(values)
            if sums.units > self.units:
                raise ValueError(f"{sums.units} deals counted of {self.units}")
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            what = f"{type(error).__name__}: {error}"
            raise ResultsError(
                f"'{self.path}': something in the run's files cannot be ({what})"
            ) from error
        return sums

    def changed_agents(self) -> list[str]:
        """Return the labels of agents whose source is not that of the run any more."""
        return [
            entry["label"]
            for entry in self.manifest["agents"]
            if load_agent(entry["spec"]).source_hash() != entry["source_sha256"]
        ]

    def plan(self) -> Plan:
        """Return the plan of the run, with its agents as they are now.

        Raises
        ------
        GinSimError
            For an agent that is not there any more, or a value that cannot be.
        """
        manifest = self.manifest
        options: dict[str, Any] = {
            "games" if self.games else "hands": manifest["games" if self.games else "hands"],
            "rules": self.rules,
            "seed": manifest["seed"],
            "on_illegal": manifest["on_illegal"],
            "keep_hands": manifest.get("rows", True),
            "log": manifest.get("histories", False),
            "decision_seconds": manifest.get("decision_seconds"),
        }
        specs = [entry["spec"] for entry in manifest["agents"]]
        if "sweep" in manifest:
            sweep = manifest["sweep"]
            others = specs[len(sweep["values"]) :]
            return make_sweep(sweep["agent"], sweep["param"], sweep["values"], others, **options)
        return make_plan(specs, format=manifest.get("format", "round-robin"), **options)

    def meeting(self, name: str | None) -> tuple[int, int]:
        """Return who meets in a pairing, as places in the list of agents; the first if None.

        Raises
        ------
        ResultsError
            If there is no such pairing.
        """
        places = _meetings(self.manifest)
        if name is None:
            return places[0]
        if name in self.pairings:
            return places[self.pairings.index(name)]
        raise ResultsError(
            f"no pairing '{name}' in this run; there are: {', '.join(self.pairings)}"
        )

    def check_deal(self, deal: int) -> None:
        """Refuse a deal that is not of the run."""
        most = self.units * MAX_GAME_HANDS if self.games else self.units
        if not 0 <= deal < most:
            raise ResultsError(f"deal {deal} is not in this run; it has 0..{most - 1}")


_SHAPE = {"seed": int, "rules": dict, "on_illegal": str, "agents": list, "pairings": list}
_SWEEP_SHAPE = {"agent": str, "param": str, "values": list}
_AGENT_SHAPE = {"label": str, "spec": str, "source_sha256": str}


def _problem(manifest: dict[str, Any]) -> str:
    """Say what in a tournament's manifest cannot be; nothing if all can."""
    if manifest.get("kind") != "tournament":
        return f"kind = {manifest.get('kind')!r}: hands of a tournament can be replayed"
    amount = "games" if "games" in manifest else "hands"
    for key, kind in (_SHAPE | {amount: int}).items():
        value = manifest.get(key)
        low = 1 if key == amount else 0
        if type(value) is not kind or (isinstance(value, int) and not low <= value <= MAX_SEED):
            return f"{key} = {value!r} cannot be"
    if "games" in manifest and "hands" in manifest:
        return "hands and games: a run has one of them"
    if manifest["on_illegal"] not in ("error", "forfeit"):
        return f"on_illegal = {manifest['on_illegal']!r} cannot be"
    if not isinstance(manifest.get("histories", False), bool):
        return f"histories = {manifest['histories']!r} cannot be"
    try:
        decision_limit(manifest.get("decision_seconds"))
    except GinSimError:
        return f"decision_seconds = {manifest['decision_seconds']!r} cannot be"
    if missing := Rules().as_dict().keys() - manifest["rules"].keys():
        return f"rules: '{min(missing)}' is missing"
    for agent in manifest["agents"]:
        if not isinstance(agent, dict) or any(
            type(agent.get(key)) is not kind for key, kind in _AGENT_SHAPE.items()
        ):
            return f"agents: {agent!r} cannot be"
    if manifest.get("format", "round-robin") not in (*FORMATS, "sweep"):
        return f"format = {manifest['format']!r} cannot be"
    sweep = manifest.get("sweep", {"agent": "", "param": "", "values": []})
    if not isinstance(sweep, dict) or any(
        type(sweep.get(key)) is not kind for key, kind in _SWEEP_SHAPE.items()
    ):
        return f"sweep = {sweep!r} cannot be"
    labels = [agent["label"] for agent in manifest["agents"]]
    names = [f"{labels[a]} v {labels[b]}" for a, b in _meetings(manifest)]
    if manifest["pairings"] != names or not names:
        return f"pairings = {manifest['pairings']!r}: the agents make {names!r}"
    return ""


def _meetings(manifest: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    how = "sweep" if "sweep" in manifest else manifest.get("format", "round-robin")
    swept = len(manifest["sweep"]["values"]) if "sweep" in manifest else 0
    return meetings(how, len(manifest["agents"]), swept)
