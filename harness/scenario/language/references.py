"""Names in a header that must lead somewhere: variables, objects, files, axes. A typing error must not pass as "nothing to check"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from harness.kube.api.autoscalers import SCALED
from harness.kube.api.objects import mapping_in
from harness.limits import PODS
from harness.reading.checkout import Checkout
from harness.reading.documents import Document
from harness.reading.manifests import Manifest
from harness.reading.problems import Problem, did_you_mean, dotted
from harness.scenario.language.loads import identity_of, loaded, targets, without_effect
from harness.scenario.language.manifest_files import outside_problem
from harness.scenario.language.models import Axes, Header
from harness.scenario.language.models.base import WORKLOADS
from harness.scenario.language.models.expectations import ExpectationMap
from harness.scenario.language.models.steps import Rollout, StepMap
from lazyrecords import dataclass

Path_ = tuple[str | int, ...]

__all__ = ["AXES", "check_only", "check_references", "check_variables"]

# keys of `given` that an axis of a matrix may set
AXES = ("karpenter", "crds", "kubernetes", "region", "provisionMode", "policy", "hosting", "seed")


def check_variables(document: Document, manifests: Sequence[Manifest], axes: Axes) -> list[Problem]:
    """Return the problems of variables: an axis or value that nothing uses is a typing error; so is a name in the header that nothing
    sets."""
    used = document.variables().union(*(manifest.document.variables() for manifest in manifests))
    problems: list[Problem] = []
    known_names = set(AXES)
    for axis in axes.matrix:
        known_names.add(axis)
        if axis not in AXES and axis not in used:
            message = f"axis '{axis}' is neither a key of 'given' nor used as $({axis})"
            problems.append(
                Problem(document.position(("matrix", axis)), f"matrix.{axis}", message, did_you_mean(axis, AXES))
            )
    all_names = {name for case in axes.cases for name in case.values}
    for number, case in enumerate(axes.cases):
        for name in case.values:
            known_names.add(name)
            if name not in used:
                path = ("cases", number, "values", name)
                problems.append(
                    Problem(document.position(path), dotted(path), f"value '{name}' is not used as $({name})")
                )
        for name in sorted(all_names - case.values.keys()):
            problems.append(
                Problem(
                    document.position(("cases", number)), f"cases[{number}].values", f"'{name}' is missing in this case"
                )
            )
    for name in sorted(document.variables() - known_names):
        problems.append(
            Problem(document.position(("scenario",)), "", f"$({name}) has no value", did_you_mean(name, known_names))
        )
    return problems


def _is_file(text: str) -> bool:
    return text.endswith((".yaml", ".yml", ".json"))


def check_references(
    header: Header,
    manifests: Sequence[Manifest],
    entries: Sequence[tuple[Path_, ExpectationMap]],
    origin: Callable[[Path_], Path_],
    document: Document,
    directory: Path,
    checkout: Checkout,
) -> list[Problem]:
    """Return the problems of objects and files that steps and expectations name and that do not exist."""
    applied = [name for step in header.when if isinstance(step, StepMap) for name in step.apply or ()]
    names = _Known(manifests, any(_is_file(name) for name in applied), document, directory, checkout)
    problems = [*names.check_steps(header, origin), *(problem for entry in entries for problem in names.check(*entry))]
    for path, number in _steps(header):
        if not 1 <= number <= len(header.when):
            count = f"`when` has {len(header.when)} step{'' if len(header.when) == 1 else 's'}"
            problems.append(names.problem(origin(path), f"there is no step {number}", count))
    return problems


@dataclass(frozen=True, slots=True)
class _Known:
    """The targets of names: the objects of a scenario, and the files beside it."""

    manifests: Sequence[Manifest]
    from_files: bool
    """Whether steps apply files, whose objects are unknown here."""
    document: Document
    directory: Path
    checkout: Checkout

    def problem(self, place: Path_, message: str, hint: str = "") -> Problem:
        """Return a problem at a place of the document."""
        return Problem(self.document.position(place), dotted(place), message, hint)

    def unknown(self, place: Path_, reference: str, predicate: str = "is not an object of this scenario") -> Problem:
        """The problem of a name that refers to nothing, with the nearest known one."""
        names = [manifest.reference for manifest in self.manifests]
        return self.problem(place, f"'{reference}' {predicate}", did_you_mean(reference, names))

    def has(self, reference: str) -> bool:
        """Return whether there is such an object."""
        return any(manifest.is_named(reference) for manifest in self.manifests)

    def check_steps(self, header: Header, origin: Callable[[Path_], Path_]) -> Iterator[Problem]:
        """Yield the problems of objects that steps apply, patch and scale, and of named CRD files."""
        named: list[tuple[Path_, str | None]] = [(("given", "crds"), header.given.crds)]
        named += [
            (("when", index, "crds"), step.crds) for index, step in enumerate(header.when) if isinstance(step, StepMap)
        ]
        for path, crds in named:
            if crds is not None and not self.checkout.takes(self.directory, crds):
                yield outside_problem(self.document, origin(path), crds)
        yield from self._check_loads(header, origin)
        for index, step in enumerate(header.when):
            if not isinstance(step, StepMap):
                continue
            for number, name in enumerate(step.apply or ()):
                place = ("when", index, "apply", number)
                if _is_file(name):
                    if not self.checkout.takes(self.directory, name):
                        yield outside_problem(self.document, origin(place), name)
                    elif not (self.directory / name).is_file():
                        yield self.unknown(origin(place), name, "is not a file beside the scenario")
                elif not self.has(name):
                    yield self.unknown(origin(place), name)
            if step.rollout is not None:
                yield from self._check_rollout(("when", index, "rollout"), step.rollout, origin)
            for key, part in (("patch", step.patch), ("scale", step.scale)):
                if key == "scale" and step.scale is not None and step.scale.replicas > PODS.most():
                    message = f"{step.scale.replicas:,} pods are more than the {PODS.most():,} that a step may ask for"
                    yield self.problem(origin(("when", index, key, "replicas")), message, PODS.hint)
                if part is None or self.from_files or "*" in part.of:
                    continue
                if not self.has(part.of):
                    yield self.unknown(origin(("when", index, key, "of")), part.of)

    def _check_loads(self, header: Header, origin: Callable[[Path_], Path_]) -> Iterator[Problem]:
        """Yield the problems of workloads whose load is given and that nothing scales by it."""
        scaled = targets(self.manifests)
        workloads = {identity_of(reference) for _, reference, _ in loaded(header)}
        for manifest in self.manifests:
            most = mapping_in(manifest.object.get("spec")).get("maxReplicas")
            if targets([manifest]) & workloads and isinstance(most, int) and most > PODS.most():
                message = f"{most:,} pods are more than the {PODS.most():,} that a file may ask for"
                yield Problem(
                    manifest.document.position(("spec", "maxReplicas")), "spec.maxReplicas", message, PODS.hint
                )
        for place, reference, loads in loaded(header):
            kind = reference.partition("/")[0]
            if kind not in SCALED:
                yield self.problem(origin(place), f"a {kind} has no load", f"one of {', '.join(SCALED)}")
            elif not loads:
                yield self.problem(origin(place), "a list of loads has at least one entry")
            elif self.from_files:
                continue
            elif not self.has(reference):
                yield self.unknown(origin(place), reference)
            elif identity_of(reference) not in scaled:
                yield self.problem(
                    origin(place), f"no HorizontalPodAutoscaler scales {reference}, so its load changes nothing"
                )
            elif (reason := without_effect(reference, loads, self.manifests)) is not None:
                yield self.problem(origin(place), *reason)

    def _check_rollout(self, place: Path_, rollout: Rollout, origin: Callable[[Path_], Path_]) -> Iterator[Problem]:
        """The workloads that a rollout names."""
        for verb in rollout.model_fields_set:
            for reference in getattr(rollout, verb) or ():
                if not self.from_files and "*" not in reference and not self.has(reference):
                    yield self.unknown(origin((*place, verb)), reference)

    def check(self, path: Path_, expectation: ExpectationMap) -> Iterator[Problem]:
        """Yield the problems of an expectation's object, and of the workloads whose pods it is about."""
        for attribute, kind in (("object", ""), ("nodepool", "NodePool/"), ("nodeclass", "AKSNodeClass/")):
            named = getattr(expectation.body, attribute, None)
            if named is None or self.from_files or expectation.kind == "nodeclaims" or self.has(kind + named):
                continue
            if attribute == "object" and not named.startswith(("NodePool/", "AKSNodeClass/", "Pod/")):
                continue  # an object that a controller makes, for example a NodeClaim
            yield self.unknown((*path, expectation.kind, attribute), kind + named)
        for place, name in expectation.body.workloads():
            kind = name.partition("/")[0]
            if kind not in WORKLOADS:
                hint = did_you_mean(kind, WORKLOADS, limit=0) or f"one of {', '.join(WORKLOADS)}"
                yield self.problem(
                    (*path, to_camel(expectation.kind), *place), f"unknown kind of workload '{kind}'", hint
                )
            elif not self.from_files and not self.has(name):
                yield self.unknown((*path, to_camel(expectation.kind), *place), name)


def _steps(header: Header) -> Iterator[tuple[Path_, int]]:
    """Yield the steps that moments of expectations name, with their places."""
    for index, expectation in enumerate(header.then):
        for key, moment in expectation.body.moments():
            if moment.step is not None:
                yield ("then", index, to_camel(expectation.kind), key, "step"), moment.step


def check_only(
    document: Document, raw: Mapping[str, Any], cases: Sequence[Mapping[str, str]], axes: Axes
) -> list[Problem]:
    """Return the problems of `only`: unknown axes and values, so that no expectation is left out by a typing error."""
    problems: list[Problem] = []
    values_of_axis = {
        axis: {case[axis] for case in cases if axis in case}
        for axis in (*axes.matrix, *(["case"] if axes.cases else []))
    }
    for axis, values in raw.get("matrix", {}).items():
        values_of_axis[axis].update(values)  # also those that a release of the command line stands for
    for path, body in _bodies(raw):
        only = body.get("only")
        if not isinstance(only, dict):
            continue
        for axis, values in only.items():
            place = (*path, "only", axis)
            if axis not in values_of_axis:
                problems.append(
                    Problem(
                        document.position(place),
                        dotted(place),
                        f"unknown axis '{axis}'",
                        did_you_mean(axis, values_of_axis),
                    )
                )
                continue
            for number, value in enumerate(values):
                if value not in values_of_axis[axis]:
                    message = f"'{value}' is not a value of axis '{axis}'"
                    at = (*place, number)
                    problems.append(
                        Problem(document.position(at), dotted(at), message, did_you_mean(value, values_of_axis[axis]))
                    )
    return problems


def _bodies(raw: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    lists: list[tuple[tuple[str | int, ...], Any]] = [(("then",), raw.get("then", []))]
    lists += [(("cases", number, "then"), case.get("then", [])) for number, case in enumerate(raw.get("cases", []))]
    for path, entries in lists:
        for index, entry in enumerate(entries):
            for kind, body in entry.items():
                yield (*path, index, kind), body
