"""A scenario made smaller step by step: its objects, its inputs and steps, then the fields and values of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.reading import yaml_tree
from harness.reading.checkout import Checkout
from harness.reading.documents import Document
from harness.reading.manifests import Manifest
from harness.reading.problems import ScenarioError
from harness.scenario.language.cases import Case
from harness.scenario.language.core_objects import core_problems, field_problems
from harness.scenario.language.files import load_text
from harness.scenario.language.writing import scenario_text
from harness.scenario.running.runner import Runner
from harness.scenario.running.stating import stated
from harness.shrink.reduction import smaller_list, smaller_values, without
from harness.shrink.verdicts import Keeps, Outcome, check_verdict, kept_by, outcome_of

__all__ = ["Shrunk", "shrink"]

Object = Mapping[str, Any]

_FILE = "shrunk.yaml"
_ANYTHING = [{"pods": {"bound": 0}}]
_FIXED = frozenset({("apiVersion",), ("kind",), ("metadata", "name")})
_PINNED = ("karpenter",)  # keys that a later default would change
_OWN_THEN = ("then", "failed")


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The text of the small scenario, its objects, the runs that it took, and whether nothing more can go."""

    text: str
    objects: int
    runs: int
    minimal: bool


@dataclass(slots=True)
class _Search:
    """The smallest scenario so far, and the test that a smaller one has to pass."""

    header: dict[str, Any]
    objects: list[Object]
    directory: Path
    keeps: Keeps = lambda outcome: True
    tell: Callable[[str], None] = lambda line: None
    runner: Runner = field(default_factory=Runner)
    runs: int = 0
    _cases: dict[str, Case] = field(default_factory=dict)

    def case(self, header: Mapping[str, Any]) -> Case:
        """The case of a header alone. Raises ScenarioError."""
        key = repr(header)
        if key not in self._cases:
            text = scenario_text(_written(header), ())
            (scenario,) = load_text(text, file=_FILE, directory=self.directory, checkout=Checkout(None))
            self._cases[key] = scenario.cases[0]
        return self._cases[key]

    def outcome(self, header: Mapping[str, Any], objects: Sequence[Object]) -> Outcome:
        """Return the outcome of a scenario. Raises ScenarioError where it cannot be run."""
        self.runs += 1
        manifests = tuple(map(_manifest, objects))
        problems = [
            problem for manifest in manifests for problem in (*core_problems(manifest), *field_problems(manifest))
        ]
        if problems:
            raise ScenarioError(problems)
        case = replace(self.case(header), manifests=manifests)
        return outcome_of(lambda: self.runner.examine(case))

    def holds(self, header: Mapping[str, Any], objects: Sequence[Object]) -> bool:
        """Return whether a smaller scenario keeps the verdict; then it is the smallest so far."""
        try:
            outcome = self.outcome(header, objects)
        except ScenarioError:
            return False
        if not self.keeps(outcome):
            return False
        self.header, self.objects = dict(header), list(objects)
        self.tell(f"{len(self.objects)} objects after {self.runs} runs")
        return True


def shrink(case: Case, keep: str, tell: Callable[[str], None] = lambda line: None) -> Shrunk:
    """Return the smallest scenario that keeps a verdict of a case; the smallest so far when it is interrupted
    (KeyboardInterrupt).

    Raises UnknownVerdict, and ScenarioError where the case cannot be run.
    """
    check_verdict(keep)
    header: dict[str, Any] = _header_of(case, own_then=keep.partition("=")[0] in _OWN_THEN)
    search = _Search(header, [manifest.object for manifest in case.manifests], case.directory, tell=tell)
    search.keeps = kept_by(keep, search.outcome(header, search.objects))
    try:
        _reduce(search)
        minimal = True
    except KeyboardInterrupt:
        minimal = False
    return Shrunk(_text(search, keep), len(search.objects), search.runs, minimal)


def _reduce(search: _Search) -> None:
    before: Any = None
    while before != (search.header, search.objects):
        before = (search.header, search.objects)
        smaller_list(search.objects, lambda rest: search.holds(search.header, rest))
        for key in ("when", "given"):
            if search.header.get(key):
                _smaller_part(search, key)
        for index in range(len(search.objects)):
            _smaller_object(search, index)


def _smaller_part(search: _Search, key: str) -> None:
    def holds(part: Any) -> bool:
        rest = {**search.header, key: part} if part else without(search.header, (key,))
        return search.holds(rest, search.objects)

    value = search.header[key]
    least = [] if isinstance(value, list) else {name: value[name] for name in _PINNED if name in value}
    if value != least and not holds(least):
        smaller_values(value, holds, frozenset((name,) for name in _PINNED))


def _smaller_object(search: _Search, index: int) -> None:
    def holds(candidate: Any) -> bool:
        return search.holds(search.header, [*search.objects[:index], candidate, *search.objects[index + 1 :]])

    smaller_values(search.objects[index], holds, _FIXED)


def _header_of(case: Case, *, own_then: bool) -> dict[str, Any]:
    """The header of one case alone: files that it names are among its objects, axes have their values."""
    document = case.given_document.value
    number = next(
        (i for i, entry in enumerate(document.get("cases", ())) if entry["case"] == case.axes.get("case")), None
    )
    own: Mapping[str, Any] = document["cases"][number] if number is not None else {}
    keys = {**document.get("given", {}), **own.get("given", {})}
    keys = {key: value for key, value in keys.items() if key not in ("manifests", "patches")}
    keys |= {axis: value for axis, value in case.axes.items() if axis in type(case.given).model_fields}
    if case.given.karpenter is not None:
        keys["karpenter"] = case.given.karpenter
    header: dict[str, Any] = {"scenario": document["scenario"], "given": keys}
    if when := [*document.get("when", ()), *own.get("when", ())]:
        header["when"] = when
    if own_then:
        header["then"] = [*document.get("then", ()), *own.get("then", ())]
    return header


def _written(header: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in header.items() if value}, "then": header.get("then") or _ANYTHING}


def _text(search: _Search, keep: str) -> str:
    """The result, which states its verdict as its expectation."""
    header = _written(search.header)
    if keep.partition("=")[0] not in (*_OWN_THEN, "error"):
        case = replace(search.case(search.header), manifests=tuple(map(_manifest, search.objects)))
        run, _ = search.runner.examine(case)
        header["then"] = stated(run)
    return scenario_text(header, search.objects)


def _manifest(obj: Object) -> Manifest:
    """Return an object as if it stood in a file, whose place nobody needs."""
    metadata = obj.get("metadata") or {}
    namespace = metadata.get("namespace")
    document = Document(_FILE, yaml_tree.Mapping(1, 1), obj)
    return Manifest(document, obj["kind"], namespace if isinstance(namespace, str) else "", str(metadata.get("name")))
