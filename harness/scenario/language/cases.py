"""A scenario with its matrix and its cases laid out: each combination is one case, which is what runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from harness.limits import CASES
from harness.reading.checkout import Checkout
from harness.reading.documents import Document
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark, Problem, dotted
from harness.scenario.language.core_objects import core_problems
from harness.scenario.language.dumps import not_simulated_lines
from harness.scenario.language.loads import loaded, with_autoscalers
from harness.scenario.language.manifest_files import ManifestFiles, objects_of
from harness.scenario.language.missing_values import missing_values, without_missing
from harness.scenario.language.models import Axes, Header
from harness.scenario.language.models.expectations import ExpectationMap
from harness.scenario.language.models.given import Given
from harness.scenario.language.models.header import Seeds
from harness.scenario.language.references import AXES, check_only, check_references, check_variables
from harness.scenario.language.sizes import size_problems
from harness.scenario.language.validation import validated
from lazyrecords import dataclass

__all__ = ["Case", "Entry", "Source", "expanded"]


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a scenario.

    It has the file's name for messages, the folder of files that it names, the checkout that these are in, and the release that replaces
    its own. `header` is the model of its headers.
    """

    file: str
    directory: Path
    files: ManifestFiles
    checkout: Checkout
    release: str | None = None
    header: type[Header] = Header


@dataclass(frozen=True, slots=True)
class Entry:
    """One expectation of a case: its place in `then`, and its place in the file."""

    expectation: ExpectationMap
    path: tuple[str | int, ...]
    document: Document

    @property
    def label(self) -> str:
        """`then[2].node`."""
        return f"{dotted(self.path)}.{to_camel(self.expectation.kind)}"

    def mark(self, *below: str | int) -> Mark:
        """The place of a field of the expectation's body."""
        return self.document.position((*self.path, to_camel(self.expectation.kind), *below))

    @property
    def inner(self) -> Entry:
        """Return, for an entry over virtual time, the expectation inside it as an entry of its own; else the entry itself."""
        kind = self.expectation.body.looks_at
        if not kind:
            return self
        inner = ExpectationMap.model_construct({kind}, **{kind: getattr(self.expectation.body, kind)})
        return Entry(inner, (*self.path, self.expectation.kind), self.document)


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario with one choice of all its axes: the unit of a run."""

    scenario: str
    id: str
    file: str
    mark: Mark
    directory: Path
    axes: Mapping[str, str]
    header: Header
    given: Given
    given_document: Document
    manifests: tuple[Manifest, ...]
    then: tuple[Entry, ...]
    when_paths: tuple[tuple[str | int, ...], ...]
    notes: tuple[str, ...] = ()
    """Lines about objects on which nothing in the simulation depends."""

    @property
    def name(self) -> str:
        """Scenario and case as one text: `a spot node[1.14.0]`."""
        return f"{self.scenario}[{self.id}]" if self.id else self.scenario

    @property
    def seeds(self) -> Seeds | None:
        """Return the seeds under which it runs, None where it has its own alone."""
        given = self.header.seeds
        return Seeds.model_construct(count=given, hold="all") if isinstance(given, int) else given

    def seeded(self, number: int) -> Case:
        """Return the same case under another seed."""
        return replace(self, given=self.given.model_copy(update={"seed": (self.given.seed or 0) + number}))

    @property
    def when_marks(self) -> tuple[Mark, ...]:
        """Return the place of each step."""
        return tuple(self.given_document.position(path) for path in self.when_paths)

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the features that a cluster must offer: those of the header, and virtual time where it is measured or loads are given."""
        measured = any(entry.expectation.elapsed is not None for entry in self.then)
        scaled = any(True for _ in loaded(self.header))
        return tuple(dict.fromkeys([*self.header.needs, *(["virtual-time"] if measured or scaled else [])]))

    @property
    def needs_virtual_time(self) -> bool:
        """Return whether it cannot be run in real time."""
        return "virtual-time" in self.needs

    @property
    def refused(self) -> tuple[str, ...]:
        """References of the objects that it expects to be refused."""
        return tuple(reference for entry in self.then for reference in entry.expectation.body.refused())

    def given_mark(self, *path: str | int) -> Mark:
        """Return the place where an input was set: in `given`, in the case or in the matrix."""
        document = self.given_document
        listed = document.value.get("cases", ())
        own = [index for index, case in enumerate(listed) if case["case"] == self.axes.get("case")]
        for place in (*(("cases", index, "given", *path) for index in own), ("given", *path), ("matrix", *path)):
            if document.has(place):
                return document.position(place)
        return document.position(("given",))


def expanded(document: Document, manifests: Sequence[Manifest], source: Source) -> tuple[list[Case], list[Problem]]:
    """The cases of one scenario, and every problem of its header."""
    empty = missing_values(document)
    if empty:
        document = replace(document, value=without_missing(document.value))
        _, problems = _expanded(document, manifests, source)
        reported = [problem.path for problem in empty]
        return [], [
            *empty,
            *(problem for problem in problems if not any(path.startswith(problem.path) for path in reported)),
        ]
    return _expanded(document, manifests, source)


def _expanded(document: Document, manifests: Sequence[Manifest], source: Source) -> tuple[list[Case], list[Problem]]:
    raw = document.value
    axes, problems = _axes(document)
    if axes is not None:
        problems += check_variables(document, manifests, axes)
        if source.release is not None and "karpenter" in axes.matrix:
            axes = axes.model_copy(update={"matrix": {**axes.matrix, "karpenter": [source.release]}})
    if axes is None or problems:
        return [], [*problems, *_other_problems(document, source.header)]
    if too_many := _too_many(document, axes):
        return [], [too_many]
    cases: list[Case] = []
    ids: set[str] = set()
    seen: list[Mapping[str, str]] = []
    varies = bool(document.variables())
    named = []
    for manifest in manifests:
        names = manifest.document.variables()
        named.append((replace(manifest, document=manifest.document.composed()) if names else manifest, names))
    numbers: Sequence[int | None] = range(len(axes.cases)) if axes.cases else [None]
    for number, values in product(numbers, [*product(*axes.matrix.values())]):
        chosen = dict(zip(axes.matrix, values, strict=True))
        variables = dict(chosen)
        if number is not None:
            variables |= axes.cases[number].values
            chosen = {"case": axes.cases[number].case, **chosen}
        seen.append(chosen)
        case_id = "-".join(chosen.values())
        variant = document.substituted(variables) if variables and varies else document
        objects = [
            _substituted(manifest, variables) if names & variables.keys() else manifest for manifest, names in named
        ]
        case, issues = _case(_laid(variant, chosen, number, source.release), objects, case_id, source)
        problems += issues
        if case is None:
            continue
        if case_id in ids:
            problems.append(Problem(document.position(("scenario",)), "", f"two cases have the id '{case_id}'"))
        ids.add(case_id)
        cases.append(case)
    if not problems:
        problems += check_only(document, raw, seen, axes)
    return cases, problems


def _too_many(document: Document, axes: Axes) -> Problem | None:
    count = max(1, len(axes.cases)) * prod(map(len, axes.matrix.values()))
    if count <= CASES.most():
        return None
    key = "matrix" if axes.matrix else "cases"
    message = f"{count:,} cases are more than the {CASES.most():,} that a scenario may have"
    return Problem(document.position((key,)), key, message, CASES.hint)


def _other_problems(document: Document, header: type[Header]) -> Iterator[Problem]:
    """Yield the other problems of a header whose axes are wrong; fields that wait for a value of $(NAME) are not judged."""
    value = {key: item for key, item in document.value.items() if key not in ("matrix", "cases")}
    _, problems = validated(header, value, document.position, document.has)
    yield from (problem for problem in problems if problem.path and "$(" not in problem.what)


def _axes(document: Document) -> tuple[Axes | None, list[Problem]]:
    raw = document.value
    if "matrix" not in raw and "cases" not in raw:
        return Axes(), []
    shape: dict[str, Any] = {key: raw[key] for key in ("matrix", "cases") if key in raw}
    if isinstance(shape.get("cases"), list):
        own = ("given", "when", "then")
        shape["cases"] = [
            {key: value for key, value in case.items() if key not in own} if isinstance(case, dict) else case
            for case in shape["cases"]
        ]
    return validated(Axes, shape, document.position, document.has)


def _substituted(manifest: Manifest, variables: Mapping[str, str]) -> Manifest:
    document = manifest.document.substituted(variables)
    metadata = document.value["metadata"]
    namespace = metadata.get("namespace")
    return Manifest(
        document, document.value["kind"], namespace if isinstance(namespace, str) else "", str(metadata["name"])
    )


@dataclass(frozen=True, slots=True)
class _Laid:
    """A header with one case's parts merged over it, and the place of each part."""

    document: Document
    chosen: Mapping[str, str]
    number: int | None
    """The number of the case in `cases`, where there are any."""
    value: Mapping[str, Any]
    shared: Mapping[str, int]
    """The numbers of steps and expectations that are the header's own; the case's come after them."""

    def origin(self, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """Return the place in the document that a place in `value` comes from."""
        if self.number is None or not path:
            return path
        own = ("cases", self.number)
        if path[0] in self.shared and len(path) > 1 and isinstance(path[1], int):
            first = self.shared[str(path[0])]
            if path[1] >= first:
                return (*own, path[0], path[1] - first, *path[2:])
        if path[0] in ("given", "skip", "xfail") and self.document.has((*own, *path)):
            return (*own, *path)
        return path

    def mark(self, path: tuple[str | int, ...]) -> Mark:
        """Return the place of a field; of a value that an axis sets, the axis."""
        if len(path) == 2 and path[0] == "given" and path[1] in self.chosen:
            return self.document.position(("matrix", path[1]))
        return self.document.position(self.origin(path))

    def has(self, path: tuple[str | int, ...]) -> bool:
        """Return whether the file has such a field."""
        return self.document.has(self.origin(path))


def _laid(document: Document, chosen: Mapping[str, str], number: int | None, release: str | None) -> _Laid:
    raw = document.value
    own: Mapping[str, Any] = raw["cases"][number] if number is not None else {}
    value = {key: item for key, item in raw.items() if key not in ("matrix", "cases")}
    given = _laid_over(raw.get("given", {}), own.get("given", {}))
    if isinstance(given, dict):
        given = {**given, **{axis: text for axis, text in chosen.items() if axis in AXES}}
        if release is not None:
            given["karpenter"] = release
    if given:
        value["given"] = given
    shared: dict[str, int] = {}
    for key in ("when", "then"):
        first = raw.get(key, [])
        if key in own and isinstance(first, list) and isinstance(own[key], list):
            shared[key] = len(first)
            value[key] = [*first, *own[key]]
    value |= {key: own[key] for key in ("skip", "xfail") if key in own}
    return _Laid(document, chosen, number, value, shared)


def _case(
    laid: _Laid, manifests: Sequence[Manifest], case_id: str, source: Source
) -> tuple[Case | None, list[Problem]]:
    """Return one case, validated as a whole."""
    document, origin = laid.document, laid.origin
    header, problems = validated(source.header, laid.value, laid.mark, laid.has)
    if header is None:
        return None, [*problems, *(problem for manifest in manifests for problem in core_problems(manifest))]
    objects, problems, left_out = objects_of(header.given, manifests, document, origin, source.files)
    objects, left_out = with_autoscalers(header, objects, left_out)
    entries: list[Entry] = []
    for index, expectation in enumerate(header.then):
        only = expectation.body.only
        if only is None or all(laid.chosen.get(axis) in values for axis, values in only.items()):
            entries.append(Entry(expectation, origin(("then", index)), document))
    refused = [reference for entry in entries for reference in entry.expectation.body.refused()]
    for manifest in objects:
        if not any(manifest.is_named(name) for name in refused):
            problems += core_problems(manifest)
    problems += size_problems(objects)
    expectations = [(entry.path, entry.expectation) for entry in (entry.inner for entry in entries)]
    problems += check_references(header, objects, expectations, origin, document, source.directory, source.checkout)
    if problems:
        return None, problems
    return Case(
        scenario=header.scenario,
        id=case_id,
        file=source.file,
        mark=document.position(("scenario",)),
        directory=source.directory,
        axes=laid.chosen,
        header=header,
        given=header.given,
        given_document=document,
        manifests=tuple(objects),
        then=tuple(entries),
        notes=tuple(not_simulated_lines(left_out)),
        when_paths=tuple(origin(("when", index)) for index in range(len(header.when))),
    ), []


def _laid_over(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above or below
    result = dict(below)
    for key, value in above.items():
        result[key] = _laid_over(result[key], value) if key in result and isinstance(value, dict) else value
    return result
