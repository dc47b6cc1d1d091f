"""A plan: a scenario whose cases become rows of a table. Its matrix and its named cases are the axes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from harness.kube.api.objects import Object
from harness.limits import SITUATIONS
from harness.reading.checkout import Checkout
from harness.reading.problems import Problem, ScenarioError, dotted
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load
from harness.scenario.language.inputs import world_arguments
from harness.scenario.language.models import SweepHeader
from harness.scenario.running.agent_pools import pool_properties
from harness.scenario.running.worlds import world_inputs
from harness.sweep.result import KEY, OUTCOME
from harness.sweep.situation import Scaled, Situation

__all__ = ["OF_AZURE", "Plan", "Planned", "read_plan"]

OF_AZURE = frozenset({"spotDiscount"})
"""Axes that are fields of `given.azure`."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One row of the plan: its place in the plan, its value on each axis, the situation, and the digest of its manifests.

    `key` is the same whenever the same question is asked, so that a row that is known need not be made again.
    """

    number: int
    axes: Mapping[str, str]
    situation: Situation
    manifests: str
    key: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All rows of a sweep, in order. `axes` are the names of the axes, `manifests` the objects by their digest."""

    name: str
    axes: tuple[str, ...]
    planned: tuple[Planned, ...]
    manifests: Mapping[str, Sequence[Object]]
    files: tuple[str, ...] = ()
    """The files from which the objects were read."""
    notes: tuple[str, ...] = ()
    """Lines about objects that are not simulated."""


def read_plan(
    path: Path,
    file: str,
    *,
    until: float | None = None,
    more: Mapping[str, Sequence[Any]] | None = None,
    checkout: Checkout | None = None,
) -> Plan:
    """Read a plan; `file` is the name to print, `until` replaces the time that its steps let pass, in seconds.

    `more` are axes besides the plan's own: a field of Situation (karpenter, region, seed) or of its market (OF_AZURE) and its values.
    `checkout` is what it may name files of, by itself the one that it lies in. Raises ScenarioError with every mistake.
    """
    cases = [case for scenario in load(path, file, header=SweepHeader, checkout=checkout) for case in scenario.cases]
    extra: dict[str, Sequence[Any]] = dict(more or {})
    problems = [problem for case in cases for problem in _not_for_a_plan(case)]
    problems += [*_columns(cases, extra), *_overwritten(cases, extra)]
    if problems:
        raise ScenarioError(list(dict.fromkeys(problems)))
    count = len(cases) * prod(map(len, extra.values()))
    if count > SITUATIONS.most():
        text = f"{count:,} situations are more than the {SITUATIONS.most():,} that a sweep may have"
        raise ScenarioError([Problem(cases[0].mark, "", text, SITUATIONS.hint)])
    several = len({case.scenario for case in cases}) > 1
    planned: list[Planned] = []
    manifests: dict[str, Sequence[Object]] = {}
    for case in cases:
        objects = [manifest.object for manifest in case.manifests]
        digest = hashlib.sha256(json.dumps(objects, sort_keys=True, default=str).encode()).hexdigest()[:16]
        manifests.setdefault(digest, objects)
        situation = _situation(case, until)
        named = {"scenario": case.scenario, **case.axes} if several else dict(case.axes)
        for values in product(*extra.values()):
            chosen: dict[str, Any] = dict(zip(extra, values, strict=True))
            axes = {**named, **{name: str(value) for name, value in chosen.items()}}
            planned.append(_planned(len(planned), axes, _chosen(situation, chosen), digest))
    names = dict.fromkeys(axis for listed in planned for axis in listed.axes)
    files = dict.fromkeys(manifest.document.position().file for case in cases for manifest in case.manifests)
    notes = tuple(dict.fromkeys(note for case in cases for note in case.notes))
    title = cases[0].scenario if not several else file
    return Plan(title, tuple(names), tuple(planned), manifests, tuple(files), notes)


def _chosen(situation: Situation, chosen: Mapping[str, Any]) -> Situation:
    """Return the situation at these values of the axes that the plan itself does not have."""
    azure = {name: value for name, value in chosen.items() if name in OF_AZURE}
    own = {name: value for name, value in chosen.items() if name not in OF_AZURE}
    return replace(situation, azure={**situation.azure, **azure}, **own)


def _planned(number: int, axes: Mapping[str, str], situation: Situation, digest: str) -> Planned:
    from harness import __version__

    key = hashlib.sha256("\n".join([__version__, situation.text(), digest]).encode()).hexdigest()[:16]
    return Planned(number, axes, situation, digest, key)


def _situation(case: Case, until: float | None) -> Situation:
    inputs: dict[str, Any] = {
        name: value for name, value in world_inputs(case).items() if name != "caches" and value is not None
    }
    passed, scaled = 0.0, list[Scaled]()
    for step in case.header.when:
        if isinstance(step, str):
            continue
        passed += step.advance or 0.0
        if step.scale is not None:
            scaled.append(Scaled(passed, step.scale.of, step.scale.replicas))
    pools = tuple({"name": pool.name, **pool_properties(pool)} for pool in case.given.agent_pools)
    return Situation(**inputs, agent_pools=pools, until=passed if until is None else until, scaled=tuple(scaled))


def _not_for_a_plan(case: Case) -> list[Problem]:
    """Return the problems of a plan: steps other than time that passes and workloads that grow and shrink, and expectations."""
    problems = []
    for step, mark in zip(case.header.when, case.when_marks, strict=True):
        if isinstance(step, str):
            continue
        if set(step.model_fields_set) - {"only"} not in ({"advance"}, {"scale"}):
            text = "a sweep knows the steps `advance`, which lets time pass, and `scale`"
            problems.append(Problem(mark, "when", text, "other steps are for `harness run`"))
        elif step.scale is not None and not any(manifest.is_named(step.scale.of) for manifest in case.manifests):
            problems.append(Problem(mark, "when.scale.of", f"there is no {step.scale.of} among the manifests"))
    if case.then:
        text = "a sweep has no expectations: its result is a table"
        problems.append(Problem(case.then[0].mark(), "then", text, "whether they hold is told by `harness run`"))
    if not case.manifests:
        text = "no object is given, so nothing would happen"
        problems.append(Problem(case.mark, "", text, "name files in `given.manifests`, or write manifests below"))
    if case.given.crds is not None and "/" in case.given.crds:
        problems.append(
            Problem(case.given_mark("crds"), "given.crds", "CRD files are not sent to other machines; name a release")
        )
    return problems


def _columns(cases: Sequence[Case], more: Mapping[str, object]) -> list[Problem]:
    """Axes whose name is that of another column."""
    problems = []
    for case in cases:
        for axis in case.axes:
            taken = (
                "a column of the result"
                if axis in OUTCOME or axis == KEY
                else "an axis of the command, too"
                if axis in more
                else ""
            )
            if taken:
                problems.append(
                    Problem(case.given_document.position(("matrix", axis)), f"matrix.{axis}", f"'{axis}' is {taken}")
                )
    return problems


def _overwritten(cases: Sequence[Case], more: Mapping[str, object]) -> list[Problem]:
    """Return a problem for each axis of the command that would overwrite a difference of the plan's cases.

    Cases differ by their entries of `cases` or by values of `matrix`. A value that all have in common from `given` is a default that the
    command may replace.
    """
    problems = []
    for axis in more:
        place = ("azure", axis) if axis in OF_AZURE else (axis,)
        marks = [case.given_mark(*place) for case in cases]
        own = [mark for case, mark in zip(cases, marks, strict=True) if _of_its_own(case, place)]
        if not own and len({str(_given_value(case, place)) for case in cases}) > 1:
            own = marks[:1]
        path = dotted(("given", *place))
        problems += [Problem(mark, path, f"'{axis}' is an axis of the command, and cases set it, too") for mark in own]
    return problems


def _of_its_own(case: Case, place: tuple[str, ...]) -> bool:
    """Return whether the entry of the case in `cases` sets the input at this place of `given`."""
    listed = case.given_document.value.get("cases", ())
    return any(
        case.given_document.has(("cases", number, "given", *place))
        for number, entry in enumerate(listed)
        if entry["case"] == case.axes.get("case")
    )


def _given_value(case: Case, place: tuple[str, ...]) -> object:
    value: Any = world_arguments(case.given)
    for key in place:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
