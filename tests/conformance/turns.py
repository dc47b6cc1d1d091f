"""The turns of the disruption controller in the worlds of scenarios: what does the real code make of them?

A scenario's verdict about a node is true as far as the turns behind it are. Each turn is asked of the oracle, by the op
``disrupt``, with the objects, instance types and nominations that the world's own controller looked at.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.conformance.ops.instance_types import describe
from harness.engine.clock import render
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.disruption import controller
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.karpenter.disruption.situation import Situation, TurnGenerator, View
from harness.karpenter.disruption.turn import Turn
from harness.karpenter.releases import DEFAULT_RELEASE
from harness.kube.api.objects import Object, metadata_of, name_of
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from tests.conformance.build import Oracle
from tests.conformance.run import Mismatch, Pair

__all__ = ["DISRUPTION", "Catalogs", "TurnsResult", "asked_turns", "recorded", "request_of", "turn_lines"]

Json = dict[str, Any]

_LISTS = (
    "nodepools",
    "nodes",
    "nodeclaims",
    "daemonsets",
    "namespaces",
    "pvcs",
    "pvs",
    "storageclasses",
    "csinodes",
    "pdbs",
)
#: the scenarios about how nodes leave
DISRUPTION = sorted((Path(__file__).resolve().parents[2] / "scenarios" / "disruption").glob("*.yaml"))

_WINDOW = 20_000_000_000
"""How long a nomination lasts at the default batch window, in nanoseconds."""


class Catalogs:
    """Lists of instance types under names, each content once."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[Sequence[InstanceType], str]] = {}
        self._known: dict[str, Json] = {}

    def name(self, types: Sequence[InstanceType]) -> str:
        """The name of a list, which is registered under it."""
        found = self._names.get(id(types))
        if found is None:
            items = [describe(each) for each in types]
            name = f"world-{hashlib.sha256(json.dumps(items, sort_keys=True).encode()).hexdigest()[:12]}"
            self._known[name] = {"op": "catalog", "name": name, "instance_types": items}
            found = self._names[id(types)] = types, name  # the list stays, and so its id
        return found[1]

    def taken(self) -> list[Json]:
        """The requests that register what was named since the last time."""
        found, self._known = list(self._known.values()), {}
        return found


@dataclass(slots=True)
class TurnsResult:
    """What the real code of one release made of the turns: how many of how many cases, what they came to, and what differs by case."""

    release: str
    cases: int = 0
    turns: int = 0
    mismatches: list[tuple[str, Mismatch]] = field(default_factory=list)


def asked_turns(oracle: Oracle, files: Iterable[Path], most: int, match: str = "") -> TurnsResult:
    """Runs the cases about the oracle's release and asks both sides about their turns."""
    result, catalogs, runner = TurnsResult(oracle.release), Catalogs(), Runner()
    with Pair(oracle) as pair:
        for case in cases_of(files, oracle.release):
            if match not in case.name:
                continue
            requests = recorded(case, runner, catalogs, most)
            pair.register(catalogs.taken())
            result.cases += 1
            result.turns += len(requests)
            found, _, _ = pair.mismatches(requests)
            result.mismatches += [(f"{case.file}: {case.name}", each) for each in found]
    return result


def turn_lines(result: TurnsResult, reports: Path) -> Iterator[str]:
    """The figures, and what differs; the questions that do are left in the folder of reports."""
    identical = result.turns - len(result.mismatches)
    yield f"{result.release}: {identical}/{result.turns} turns of {result.cases} cases identical"
    for number, (case, mismatch) in enumerate(result.mismatches, 1):
        reports.mkdir(parents=True, exist_ok=True)
        path = reports / f"turn-{result.release}-{number}.json"
        path.write_text(json.dumps(mismatch.vector(), indent=1))
        yield f"  {case}: {path}"
        yield from (f"    {each.path}: {each.want!r} and here {each.got!r}" for each in mismatch.found[:3])


def cases_of(paths: Iterable[Path], release: str) -> Iterator[Case]:
    """The cases about one release in scenario files, those that are skipped or meant to fail left out."""
    for path in paths:
        for scenario in load(path):
            for case in scenario.cases:
                header = case.header
                if (
                    (case.given.karpenter or DEFAULT_RELEASE).removeprefix("v") == release
                    and header.skip is None
                    and header.xfail is None
                ):
                    yield case


def recorded(case: Case, runner: Runner, catalogs: Catalogs, most: int) -> list[Json]:
    """Runs a case and keeps at most so many of its turns, spread over its time."""
    found: dict[str, Json] = {}
    with _listening(found, catalogs):
        runner.examine(case)
    turns = list(found.values())
    step = max(1.0, len(turns) / most)
    return [turns[int(number * step)] for number in range(min(most, len(turns)))]


@contextmanager
def _listening(found: dict[str, Json], catalogs: Catalogs) -> Iterator[None]:
    original = controller.turn

    def turn(situation: Situation, methods: Any, actions: ClusterActions, **how: Any) -> TurnGenerator[Turn]:
        request = request_of(situation, catalogs, how.get("unseen") or frozenset())
        without_time = {**request, "options": {**request["options"], "now": ""}}
        found.setdefault(hashlib.sha256(json.dumps(without_time, sort_keys=True).encode()).hexdigest(), request)
        return original(situation, methods, actions, **how)

    controller.turn = turn  # type: ignore[assignment]
    try:
        yield
    finally:
        controller.turn = original


def request_of(situation: Situation, catalogs: Catalogs, unseen: Iterable[str] = ()) -> Json:
    """The question what the disruption controller would do in this situation."""
    view = situation.view
    snapshot = view.snapshot
    request: Json = {"op": "disrupt", **{name: list(getattr(snapshot, name)) for name in _LISTS}}
    request["pods"] = [_with_uid(each) for each in snapshot.pods]
    request["catalog_by_nodepool"] = {
        name_of(pool): catalogs.name(view.instance_types.get(name_of(pool)) or ()) for pool in snapshot.nodepools
    }
    request["deleting"] = sorted(snapshot.deleting)
    request["queued"] = sorted(view.queued)
    request["unseen"] = sorted(unseen)
    request["nominated"] = {name: render(until - _WINDOW) for name, until in _nominated(view).items()}
    request["options"] = {"now": render(view.now)}
    if situation.spot_to_spot:
        request["options"]["spotToSpotConsolidation"] = True
    if situation.terminates_first:
        request["options"]["gates"] = ["TerminateFirstDrift"]
    return {key: value for key, value in request.items() if value != [] and value != {}}


def _nominated(view: View) -> Mapping[str, int]:
    """Until when Nodes are nominated; the protocol has no nominations of NodeClaims without a Node, which nothing asks for."""
    known = {name_of(each) for each in view.snapshot.nodes}
    return {name: until for name, until in sorted(view.nominated.items()) if until > view.now and name in known}


def _with_uid(pod: Object) -> Object:
    return pod if metadata_of(pod).get("uid") else {**pod, "metadata": {**metadata_of(pod), "uid": name_of(pod)}}
