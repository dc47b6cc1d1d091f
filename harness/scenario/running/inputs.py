"""A case's inputs as the arguments of a World, and the check that the releases, regions and sizes they name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from harness.kube.api.versions import version_mistake
from harness.scenario.language.cases import Case
from harness.scenario.language.crds import CrdDirectories, UnknownCrds
from harness.scenario.language.hosting import hosting_options, violations_of
from harness.scenario.language.models.base import Model
from harness.scenario.language.models.expectations import RequirementsExpectation
from harness.scenario.language.models.given import Azure, Given
from harness.scenario.language.models.steps import StepMap
from harness.scenario.reading.problems import Problem, ScenarioError, did_you_mean, dotted

if TYPE_CHECKING:
    from harness.world import Caches, World

__all__ = ["azure_arguments", "new_world", "option_name", "size_problems", "world_arguments"]


def world_arguments(given: Given) -> dict[str, Any]:
    """The keyword arguments of World for what a case says; what it leaves out is left out."""
    arguments: dict[str, Any] = {
        name: value
        for name in ("karpenter", "crds", "kubernetes", "region", "provision_mode", "seed")
        if (value := getattr(given, name)) is not None
    }
    if given.policy is not None:
        arguments["karpenter"] = f"{given.policy}@{given.karpenter}" if given.karpenter is not None else given.policy
    implied = hosting_options(given)
    if given.options or implied:
        arguments["options"] = {**implied, **{option_name(name): value for name, value in given.options.items()}}
    if given.simulation is not None:
        times = {"attempt_seconds": given.simulation.attempt, "time_limit": given.simulation.limit}
        arguments |= {name: seconds for name, seconds in times.items() if seconds is not None}
    if given.azure is not None:
        arguments["azure"] = azure_arguments(given.azure)
    return arguments


def azure_arguments(azure: Azure) -> dict[str, Any]:
    """The state of Azure as plain values, spelled as in the file, only what is said."""
    value: dict[str, Any] = _plain(azure)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        fields = type(value).model_fields
        said = [(name, field.alias or name) for name, field in fields.items() if name in value.model_fields_set]
        return {alias: _plain(getattr(value, name)) for name, alias in said}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def new_world(
    case: Case,
    caches: Caches | None = None,
    overrides: Mapping[str, Any] | None = None,
    directories: CrdDirectories | None = None,
) -> World:
    """The world that a case begins in; a ScenarioError where its inputs do not exist. `directories` keeps CRD files that were read.

    Raises harness.scenario.language.crds.CelEngineMissing.
    """
    from harness.karpenter.releases import ALL_PROVIDER_RELEASES
    from harness.world import World

    problems = []
    release = case.given.karpenter
    if release is not None and release.removeprefix("v") not in ALL_PROVIDER_RELEASES:
        hint = did_you_mean(release.removeprefix("v"), ALL_PROVIDER_RELEASES, limit=0)
        hint = hint or f"known are {ALL_PROVIDER_RELEASES[0]} to {ALL_PROVIDER_RELEASES[-1]}"
        problems.append(Problem(case.given_mark("karpenter"), "given.karpenter", f"unknown release '{release}'", hint))
    replaced = dict(overrides or {})
    if case.given.crds is not None and "crds" not in replaced:
        try:
            replaced["crds"] = (directories or CrdDirectories()).named(case.given.crds, case.directory)
        except UnknownCrds as error:
            problems.append(Problem(case.given_mark("crds"), "given.crds", error.what, error.hint))
    for step, path in zip(case.header.when, case.when_paths, strict=True):
        if isinstance(step, StepMap) and step.crds is not None:
            try:
                directories = directories or CrdDirectories()
                directories.named(step.crds, case.directory)
            except UnknownCrds as error:
                mark = case.given_document.position((*path, "crds"))
                problems.append(Problem(mark, dotted((*path, "crds")), error.what, error.hint))
    kubernetes = case.given.kubernetes
    if kubernetes is not None and (mistake := version_mistake(kubernetes)):
        problems.append(Problem(case.given_mark("kubernetes"), "given.kubernetes", mistake))
    if problems:
        raise ScenarioError(problems)
    if not any(entry.expectation.kind == "limits" for entry in case.then):
        problems = [
            Problem(case.given_mark("cluster", one.limit.field), f"given.cluster.{one.limit.field}", one.text)
            for one in violations_of(case.given)
            if one.holds
        ]
        if problems:
            raise ScenarioError(problems)
    arguments = {**world_arguments(case.given), **replaced}
    if case.given.options:
        arguments["options"] = {**hosting_options(case.given), **_options(case)}
    try:
        return World(**arguments, caches=caches)
    except ValueError as error:
        raise ScenarioError([_input_problem(case, error)]) from None


def option_name(name: str) -> str:
    """The field of an option: of its flag (`vm-memory-overhead-percent`), or as it is spelled in JSON (`networkPlugin`)."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def _options(case: Case) -> dict[str, Any]:
    """The controller's options with the types of their defaults. Raises ScenarioError for unknown names and wrong values."""
    from harness.karpenter.releases import ProviderOptions

    known = {field.name: getattr(ProviderOptions(), field.name) for field in fields(ProviderOptions)}
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    for name, text in case.given.options.items():
        field = option_name(name)
        place = (case.given_mark("options", name), f"given.options.{name}")
        if field not in known:
            hint = did_you_mean(field.replace("_", "-"), [one.replace("_", "-") for one in known], limit=0)
            problems.append(Problem(*place, f"unknown option '{name}'", hint))
            continue
        value = _typed(text, known[field])
        if value is None:
            kind = {bool: "'true' or 'false'", int: "a whole number", float: "a number"}.get(
                type(known[field]), "a value"
            )
            problems.append(Problem(*place, f"{kind} is expected, not '{text}'"))
        else:
            found[field] = value
    if problems:
        raise ScenarioError(problems)
    return found


def _typed(text: str, default: Any) -> Any:
    """The value of a text with the type of a default; None when it has none."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text)
    try:
        if isinstance(default, (int, float)):
            return type(default)(text)
        if isinstance(default, tuple):
            return tuple(one.strip() for one in text.split(",") if one.strip())
        return type(default)(text) if isinstance(default, str) else text
    except ValueError:
        return None


def _input_problem(case: Case, error: ValueError) -> Problem:
    """A refusal of World's as a place in the file: by the path it names, or by the input it speaks of."""
    what, _, hint = str(error).partition("; ")
    path: tuple[str, ...] = ()
    named = getattr(error, "path", None)
    if isinstance(named, str):
        path = ("azure", *(part for part in re.split(r"[.\[\]]+", named) if part and part != "azure"))
        what, _, hint = str(getattr(error, "what", what)).partition("; ")
    else:
        for key in ("region", "kubernetes", "provisionMode", "options", "crds"):
            if key.lower() in str(error).lower() or _spoken_of(case, key, str(error)):
                path = (key,)
                break
    place = tuple(int(part) if part.isdecimal() else part for part in path)
    return Problem(case.given_mark(*place), dotted(("given", *place)), what, hint)


def _spoken_of(case: Case, key: str, text: str) -> bool:
    value = case.given.region if key == "region" else case.given.kubernetes if key == "kubernetes" else None
    return value is not None and value in text


def size_problems(case: Case, world: World) -> Iterator[Problem]:
    """Sizes that a case asks about and that its region does not sell."""
    for entry in case.then:
        body = entry.expectation.body
        if isinstance(body, RequirementsExpectation):
            sold = world.caches.catalogue.region(world.region).by_name
            if body.of not in sold:
                what = f"unknown size '{body.of}' in {world.region}"
                yield Problem(entry.mark("of"), f"{entry.label}.of", what, did_you_mean(body.of, sold, limit=0))
