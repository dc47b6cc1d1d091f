"""Releases, regions, versions and sizes of a header that cannot be run for other reasons, so that all of its mistakes are told at once.

A header without mistakes is asked about these by the runner (`inputs.py`), with everything filled in. Here the header may be of any shape,
so that only what is plainly a text is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.kube.api.versions import version_mistake
from harness.scenario.language.crds import unknown_crds
from harness.scenario.reading.documents import Document
from harness.scenario.reading.problems import Problem, did_you_mean, dotted

__all__ = ["existence_problems"]

Path_ = tuple[str | int, ...]


def existence_problems(document: Document, directory: Path) -> Iterator[Problem]:
    """What the header names and nobody knows: releases, regions, Kubernetes versions, and sizes that no region of it sells.

    `directory` is where directories of CRD files are looked for.
    """
    from harness.karpenter.releases import ALL_PROVIDER_RELEASES
    from harness.world import default_caches

    regions = {}
    catalogue = default_caches().catalogue
    for path, key, text in _inputs(document.value):
        if key == "crds":
            unknown = unknown_crds(text, directory)
            if unknown is not None:
                yield Problem(document.position(path), dotted(path), unknown.what, unknown.hint)
        elif key == "karpenter" and text.removeprefix("v") not in ALL_PROVIDER_RELEASES:
            hint = did_you_mean(text.removeprefix("v"), ALL_PROVIDER_RELEASES, limit=0)
            hint = hint or f"known are {ALL_PROVIDER_RELEASES[0]} to {ALL_PROVIDER_RELEASES[-1]}"
            yield Problem(document.position(path), dotted(path), f"unknown release '{text}'", hint)
        elif key == "region" and text not in catalogue.regions:
            hint = did_you_mean(text, catalogue.regions, limit=0)
            yield Problem(document.position(path), dotted(path), f"unknown region '{text}'", hint)
        elif key == "region":
            regions[text] = catalogue.region(text).by_name
        elif key == "kubernetes" and (mistake := version_mistake(text)):
            yield Problem(document.position(path), dotted(path), mistake)
    if not regions:
        regions["eastus"] = catalogue.region("eastus").by_name
    for path, size in _sizes(document.value):
        if not any(size in sold for sold in regions.values()):
            known = next(iter(regions.values()))
            what = f"unknown size '{size}' in {', '.join(regions)}"
            yield Problem(document.position(path), dotted(path), what, did_you_mean(size, known, limit=0))


def _plain(value: Any) -> bool:
    return isinstance(value, str) and "$(" not in value


def _maps(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if isinstance(value, list):
        yield from ((index, item) for index, item in enumerate(value) if isinstance(item, dict))


def _inputs(header: Any) -> Iterator[tuple[Path_, str, str]]:
    """Place, key and text of every input in `given`, in the cases and in the matrix, and of the CRDs that steps install."""
    givens: list[tuple[Path_, Any]] = [(("given",), header.get("given"))]
    givens += [(("cases", index, "given"), case.get("given")) for index, case in _maps(header.get("cases"))]
    for path, given in givens:
        if isinstance(given, dict):
            yield from (((*path, key), key, text) for key, text in given.items() if _plain(text))
    matrix = header.get("matrix")
    if isinstance(matrix, dict):
        for axis, values in matrix.items():
            for index, text in enumerate(values if isinstance(values, list) else ()):
                if _plain(text):
                    yield ("matrix", axis, index), axis, text
    steps: list[tuple[Path_, Any]] = [(("when",), header.get("when"))]
    steps += [(("cases", index, "when"), case.get("when")) for index, case in _maps(header.get("cases"))]
    for path, entries in steps:
        for index, step in _maps(entries):
            if _plain(step.get("crds")):
                yield (*path, index, "crds"), "crds", step["crds"]


def _sizes(header: Any) -> Iterator[tuple[Path_, str]]:
    """The sizes that `requirements` asks about."""
    lists: list[tuple[Path_, Any]] = [(("then",), header.get("then"))]
    lists += [(("cases", index, "then"), case.get("then")) for index, case in _maps(header.get("cases"))]
    for path, entries in lists:
        for index, entry in _maps(entries):
            body = entry.get("requirements")
            size = body.get("of") if isinstance(body, dict) else None
            if isinstance(size, str) and _plain(size):
                yield (*path, index, "requirements", "of"), size
