"""The inputs that `given` names: the arguments of a World, and the mistakes in them at their places in the file.

The judgement is `harness.world.inputs`', which the command line calls, too. A case is judged with everything filled in; the header of a
file with other mistakes as it stands, so that all are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.kube.api.versions import version_mistake
from harness.reading.checkout import Checkout
from harness.reading.documents import Document
from harness.reading.problems import Problem, dotted
from harness.scenario.language.cases import Case
from harness.scenario.language.crds import CrdDirectories, UnknownCrds, unknown_crds
from harness.scenario.language.hosting import hosting_options, violations_of
from harness.scenario.language.loads import load_arguments
from harness.scenario.language.models.base import Model
from harness.scenario.language.models.given import Given
from harness.scenario.language.models.steps import StepMap

if TYPE_CHECKING:
    from harness.scenario.language.models.azure import Market
    from harness.scenario.language.models.timing import Timing
    from harness.world import Caches
    from harness.world.inputs import InputMistake

__all__ = ["azure_arguments", "case_problems", "header_problems", "timing_arguments", "world_arguments"]

Path_ = tuple[str | int, ...]

_KEYS = {"provision_mode": "provisionMode"}
"""Arguments of World whose key in `given` differs."""


_RECORDED = "recorded"
"""The key of `given.timing` that is no time."""

_STANDING = frozenset({"asOf", "regions", "sizes", "prices"})
"""Fields of `given.azure` by which steps are judged, too: what Azure sells, and whether Karpenter reads its list."""


def world_arguments(given: Given) -> dict[str, Any]:
    """Return the keyword arguments of World for a case; defaults, and keys that are no option, are left out."""
    from harness.world.inputs import typed_options

    arguments: dict[str, Any] = {
        name: value
        for name in ("karpenter", "crds", "kubernetes", "region", "provision_mode", "seed", "storage_classes")
        if (value := getattr(given, name)) is not None
    }
    if given.policy is not None:
        arguments["karpenter"] = f"{given.policy}@{given.karpenter}" if given.karpenter is not None else given.policy
    implied = hosting_options(given)
    if given.options or implied:
        arguments["options"] = {**implied, **typed_options(given.options)[0]}
    if given.simulation is not None:
        times = {"attempt_seconds": given.simulation.attempt, "time_limit": given.simulation.limit}
        arguments |= {name: seconds for name, seconds in times.items() if seconds is not None}
    if given.timing is not None:
        arguments["times"] = timing_arguments(given.timing)
        if given.timing.recorded:
            arguments["recorded"] = True
    if given.azure is not None:
        arguments["azure"] = azure_arguments(given.azure)
    if given.autoscaler_settings is not None:
        arguments["cluster_autoscaler"] = given.autoscaler_settings
    if given.load:
        arguments["loads"] = load_arguments(given)
    return arguments


def timing_arguments(timing: Timing) -> dict[str, float]:
    """The times that the case gives, in seconds, by the names of World.change_timing."""
    return {
        name: getattr(timing, name)
        for name in type(timing).model_fields
        if name in timing.model_fields_set and name != _RECORDED
    }


def azure_arguments(azure: Market) -> dict[str, Any]:
    """Return the state of Azure as plain values, spelled as in the file, without defaults."""
    value: dict[str, Any] = _plain(azure)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        fields = type(value).model_fields
        set_fields = [(name, field.alias or name) for name, field in fields.items() if name in value.model_fields_set]
        return {alias: _plain(getattr(value, name)) for name, alias in set_fields}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def case_problems(
    case: Case, overrides: Mapping[str, Any], directories: CrdDirectories, caches: Caches | None = None
) -> Iterator[Problem]:
    """Yield every release, region, version, mode, option, size and state of Azure of a case that does not exist.

    `overrides` replace inputs of the file, by the names of World's arguments. Raises CelEngineMissing.
    """
    from harness.world.inputs import input_mistakes

    given = {**_before_hosting(case.given), **overrides}
    wrong = [_at_given(case, mistake) for mistake in input_mistakes(given, caches)]
    wrong += _crds_problems(case, overrides, directories)
    wrong += _version_problems(case)
    wrong += _step_market_problems(case, given, caches)
    if not wrong and not any(entry.expectation.kind == "limits" for entry in case.then):
        wrong += [
            Problem(
                case.given_mark("cluster", violation.limit.field),
                f"given.cluster.{violation.limit.field}",
                violation.text,
            )
            for violation in violations_of(case.given)
            if violation.holds
        ]
    yield from wrong
    if not any(problem.path in ("given.region", "given.azure.asOf") for problem in wrong):
        yield from _size_problems(case, given, caches)


def _before_hosting(given: Given) -> dict[str, Any]:
    """Return the arguments that can be judged: options as they are written, nothing that follows from a release."""
    bare = given.model_copy(update={"options": {}, "hosting": None, "cluster": None})
    return {**world_arguments(bare), "options": given.options}


def _at_given(case: Case, mistake: InputMistake) -> Problem:
    first, *below = mistake.path
    place = (_KEYS.get(str(first), first), *below)
    return Problem(case.given_mark(*place), dotted(("given", *place)), mistake.what, mistake.hint)


def _crds_problems(case: Case, overrides: Mapping[str, Any], directories: CrdDirectories) -> Iterator[Problem]:
    named: list[tuple[str, Path_]] = []
    if case.given.crds is not None and "crds" not in overrides:
        named.append((case.given.crds, ("given", "crds")))
    for step, path in zip(case.header.when, case.when_paths, strict=True):
        if isinstance(step, StepMap) and step.crds is not None:
            named.append((step.crds, (*path, "crds")))
    for name, path in named:
        try:
            directories.named(name, case.directory)
        except UnknownCrds as error:
            if error.problems:
                yield from error.problems
                continue
            mark = case.given_mark("crds") if path[0] == "given" else case.given_document.position(path)
            yield Problem(mark, dotted(path), error.what, error.hint)


def _version_problems(case: Case) -> Iterator[Problem]:
    """Versions of Kubernetes that steps upgrade to and that are none."""
    for step, path in zip(case.header.when, case.when_paths, strict=True):
        if isinstance(step, StepMap) and step.kubernetes is not None:
            mistake = version_mistake(step.kubernetes)
            if mistake:
                place = (*path, "kubernetes")
                yield Problem(case.given_document.position(place), dotted(place), mistake)


def _step_market_problems(case: Case, given: Mapping[str, Any], caches: Caches | None) -> Iterator[Problem]:
    """Yield the mistakes of every step `azure`, judged as `given.azure` is, in the region and by what stands in the case."""
    from harness.world.inputs import input_mistakes

    standing = {name: part for name, part in (given.get("azure") or {}).items() if name in _STANDING}
    for step, path in zip(case.header.when, case.when_paths, strict=True):
        if not isinstance(step, StepMap) or step.azure is None:
            continue
        market = azure_arguments(step.azure)
        for mistake in input_mistakes({"region": given.get("region"), "azure": {**standing, **market}}, caches):
            if mistake.path[0] == "azure" and mistake.path[1:2] and mistake.path[1] in market:
                place = (*path, *mistake.path)
                yield Problem(case.given_document.position(place), dotted(place), mistake.what, mistake.hint)


def _size_problems(case: Case, given: Mapping[str, Any], caches: Caches | None) -> Iterator[Problem]:
    """Yield sizes that a case asks about and that its region does not sell, on the given day."""
    from harness.world import default_caches
    from harness.world.inputs import size_mistake

    caches = (caches or default_caches()).on_day((given.get("azure") or {}).get("asOf"))
    for entry in case.then:
        for size in entry.expectation.body.sizes():
            mistake = size_mistake(size, given.get("region"), caches)
            if mistake is not None:
                yield Problem(entry.mark("of"), f"{entry.label}.of", mistake.what, mistake.hint)


def header_problems(document: Document, directory: Path, checkout: Checkout) -> Iterator[Problem]:
    """Yield the unknown names in a header of any shape, where they are plainly texts: releases, regions, versions, CRDs and sizes.

    Directories of CRD files are looked for in `directory`, and in `checkout` alone.
    """
    from harness.world import default_caches
    from harness.world.inputs import input_mistakes, size_mistake

    regions: list[str] = []
    days: list[str | None] = []
    own = set(_own_regions(document.value))
    for path, key, text in _inputs(document.value):
        if key == "crds":
            if not checkout.takes(directory, text):
                continue  # its existence is not revealed
            unknown = unknown_crds(text, directory)
            if unknown is not None:
                yield Problem(document.position(path), dotted(path), unknown.what, unknown.hint)
        elif key in ("karpenter", "region", "kubernetes"):
            mistakes = [] if key == "region" and text in own else list(input_mistakes({key: text}))
            yield from (
                Problem(document.position(path), dotted(path), mistake.what, mistake.hint) for mistake in mistakes
            )
            regions += [text] if key == "region" and not mistakes and text not in own else []
    for path, day in _days(document.value):
        mistakes = list(input_mistakes({"azure": {"asOf": day}})) if day is not None else []
        yield from (Problem(document.position(path), dotted(path), mistake.what, mistake.hint) for mistake in mistakes)
        days += [day] if not mistakes else []
    lists = [default_caches().on_day(day) for day in dict.fromkeys(days or [None])]
    for path, size in _sizes(document.value):
        size_mistakes = [size_mistake(size, region, day) for region in dict.fromkeys(regions or [""]) for day in lists]
        if size_mistakes[0] is not None and all(size_mistakes):
            more = "".join(f", {region}" for region in list(dict.fromkeys(regions))[1:])
            yield Problem(
                document.position(path), dotted(path), f"{size_mistakes[0].what}{more}", size_mistakes[0].hint
            )


def _own_regions(header: Any) -> Iterator[str]:
    """The regions that a scenario has beside Azure's."""
    for _, given in _givens(header):
        azure = given.get("azure")
        regions = azure.get("regions") if isinstance(azure, dict) else None
        yield from regions if isinstance(regions, dict) else ()


def _is_plain(value: Any) -> bool:
    return isinstance(value, str) and "$(" not in value


def _maps(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if isinstance(value, list):
        yield from ((index, item) for index, item in enumerate(value) if isinstance(item, dict))


def _inputs(header: Any) -> Iterator[tuple[Path_, str, str]]:
    """Place, key and text of every input in `given`, in the cases and in the matrix, and of the CRDs that steps install."""
    for path, given in _givens(header):
        yield from (((*path, key), key, text) for key, text in given.items() if _is_plain(text))
    matrix = header.get("matrix")
    if isinstance(matrix, dict):
        for axis, values in matrix.items():
            for index, text in enumerate(values if isinstance(values, list) else ()):
                if _is_plain(text):
                    yield ("matrix", axis, index), axis, text
    steps: list[tuple[Path_, Any]] = [(("when",), header.get("when"))]
    steps += [(("cases", index, "when"), case.get("when")) for index, case in _maps(header.get("cases"))]
    for path, entries in steps:
        for index, step in _maps(entries):
            if _is_plain(step.get("crds")):
                yield (*path, index, "crds"), "crds", step["crds"]


def _givens(header: Any) -> Iterator[tuple[Path_, dict[str, Any]]]:
    givens: list[tuple[Path_, Any]] = [(("given",), header.get("given"))]
    givens += [(("cases", index, "given"), case.get("given")) for index, case in _maps(header.get("cases"))]
    yield from ((path, given) for path, given in givens if isinstance(given, dict))


def _days(header: Any) -> Iterator[tuple[Path_, str | None]]:
    """The days of Azure's lists; None for a `given` that names none."""
    for path, given in _givens(header):
        azure = given.get("azure")
        day = azure.get("asOf") if isinstance(azure, dict) else None
        yield (*path, "azure", "asOf"), day if isinstance(day, str) and _is_plain(day) else None


def _sizes(header: Any) -> Iterator[tuple[Path_, str]]:
    """The sizes that `requirements` asks about."""
    lists: list[tuple[Path_, Any]] = [(("then",), header.get("then"))]
    lists += [(("cases", index, "then"), case.get("then")) for index, case in _maps(header.get("cases"))]
    for path, entries in lists:
        for index, entry in _maps(entries):
            body = entry.get("requirements")
            size = body.get("of") if isinstance(body, dict) else None
            if isinstance(size, str) and _is_plain(size):
                yield (*path, index, "requirements", "of"), size
