"""`given.manifests` and `given.patches`: objects of files beside the scenario, by names and patterns, and changes of objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path

from harness.kube.api.kinds import served
from harness.reading.checkout import OPTION, Checkout, TooManyFiles, matching
from harness.reading.documents import Document
from harness.reading.manifests import Manifest, read_manifests
from harness.reading.patched import patched
from harness.reading.problems import Problem, ScenarioError, did_you_mean, dotted
from harness.reading.sources import MAX_ENTRIES, files_in, is_manifest_name
from harness.scenario.language.dumps import as_new, in_order, sorted_dump, taken_only
from harness.scenario.language.kind_names import kind_mistake
from harness.scenario.language.models.given import Given
from harness.sniffing import names_scenario

__all__ = ["ManifestFiles", "Outside", "objects_of", "outside_problem"]

Path_ = tuple[str | int, ...]
Origin = Callable[[Path_], Path_]


class Outside(Exception):
    """A name that leads out of the checkout."""


def outside_problem(document: Document, place: Path_, name: str) -> Problem:
    """Return the problem of such a name, whether there is such a file or not."""
    message = f"'{name}' leads out of the checkout that the scenario is in"
    return Problem(document.position(place), dotted(place), message, f"{OPTION} permits that")


class ManifestFiles:
    """The files that a scenario file refers to, each read once for all cases. `file` is the scenario file's name in messages.

    A name that leads out of `checkout` is neither looked for nor read.
    """

    def __init__(self, file: str, directory: Path, checkout: Checkout) -> None:
        self._checkout = checkout
        self._shown = os.path.dirname(file)
        self._own = os.path.realpath(directory / os.path.basename(file))
        self._directory = directory
        self._read: dict[str, tuple[Manifest, ...] | ScenarioError] = {}

    def found(self, name: str) -> list[str]:
        """Return the files that a name, a folder or a pattern stands for, from the scenario's folder; a pattern finds no scenario files.

        Raises ScenarioError as `files_in`, TooManyFiles, and Outside for a name that leads out of the checkout.
        """
        if not self._checkout.takes(self._directory, name):
            raise Outside
        names = self._found(name)
        if not all(self._checkout.holds(self._directory / name) for name in names):
            raise Outside
        return names

    def _found(self, name: str) -> list[str]:
        path = self._directory / name
        if path.is_dir():
            inside = (Path(name) / file.relative_to(path) for file in files_in(path, name, Checkout(None)))
            return [str(file) for file in inside if self._is_plain(str(file))]
        if path.exists() or not has_magic(name):
            return [name] if path.is_file() else []
        return [file for file in matching(self._directory, name) if is_manifest_name(file) and self._is_plain(file)]

    def _is_plain(self, name: str) -> bool:
        path = self._directory / name
        return path.is_file() and os.path.realpath(path) != self._own and not names_scenario(path)

    def read(self, name: str) -> tuple[Manifest, ...]:
        """The objects of a file. Raises ScenarioError with every mistake in it."""
        key = os.path.realpath(self._directory / name)
        if key not in self._read:
            try:
                self._read[key] = read_manifests(
                    self._directory / name, os.path.normpath(os.path.join(self._shown, name))
                )
            except ScenarioError as error:
                self._read[key] = error
        result = self._read[key]
        if isinstance(result, ScenarioError):
            raise result
        return result

    def beside(self, name: str) -> list[str]:
        """The manifest files in the folder of a missing name, with the folder as it is spelled there, for suggestions."""
        folder = os.path.dirname(name)
        try:
            names = os.listdir(self._directory / folder)
        except OSError:
            return []
        return [os.path.join(folder, name) for name in sorted(names) if is_manifest_name(name)]

    def all(self) -> Iterator[Manifest]:
        """Every object that was read so far."""
        for result in self._read.values():
            if not isinstance(result, ScenarioError):
                yield from result


def objects_of(
    given: Given, own: Sequence[Manifest], document: Document, origin: Origin, files: ManifestFiles
) -> tuple[list[Manifest], list[Problem], list[Manifest]]:
    """Return the objects of a case, the mistakes in them, and the objects of its files that are left out.

    The objects are those of the files that `given` names, those of the scenario itself in place of them, all patched. `origin` leads from a
    field of the case to its place in the document.
    """
    if not given.manifests and not given.patches:
        return list(own), [], list(taken_only(own))
    problems: list[Problem] = []
    objects, left_out = _referenced(given, document, origin, files, problems)
    if given.manifests:
        names = {manifest.identity for manifest in own}
        objects = in_order([*(obj for obj in objects if obj.identity not in names), *own])
    else:
        objects = list(own)
    for index, patch in enumerate(given.patches):
        place = origin(("given", "patches", index))
        touched = [number for number, manifest in enumerate(objects) if _fits(manifest, patch.of)]
        if not touched:
            message = f"'{patch.of}' is not an object of this scenario"
            hint = did_you_mean(patch.of, [obj.reference for obj in objects])
            problems.append(Problem(document.position((*place, "of")), dotted((*place, "of")), message, hint))
        for number in touched:
            changed = patched(objects[number], document, (*place, "to"))
            if objects[number].identity != _identity_of(changed):
                message = "a patch cannot give an object another kind, namespace or name"
                problems.append(Problem(document.position((*place, "to")), dotted((*place, "to")), message))
                continue
            objects[number] = changed
    return objects, problems, [*taken_only(own), *left_out]


def _referenced(
    given: Given, document: Document, origin: Origin, files: ManifestFiles, problems: list[Problem]
) -> tuple[list[Manifest], list[Manifest]]:
    """Return the objects of all files that the simulation acts on, as they are created anew, and those of other kinds."""
    names: dict[str, None] = {}
    for index, name in enumerate(given.manifests):
        place = origin(("given", "manifests", index))
        try:
            files_found = files.found(name)
        except ScenarioError:  # an empty folder
            files_found = []
        except Outside:
            problems.append(outside_problem(document, place, name))
            continue
        except TooManyFiles:
            message = f"'{name}' looks at more than {MAX_ENTRIES:,} files and folders"
            problems.append(
                Problem(document.position(place), dotted(place), message, "name the folders that hold the files")
            )
            continue
        if not files_found:
            message = f"no file matches '{name}'" if has_magic(name) else f"there is no file '{name}'"
            hint = did_you_mean(name, files.beside(name))
            problems.append(Problem(document.position(place), dotted(place), message, hint))
        names.update(dict.fromkeys(os.path.normpath(file) for file in files_found))
    read: dict[tuple[str, str, str], Manifest] = {}
    for name in names:
        try:
            manifests = files.read(name)
        except ScenarioError as error:
            problems += error.problems
            continue
        for manifest in manifests:
            first = read.setdefault(manifest.identity, manifest)
            if first is not manifest:
                message = f"{manifest.reference} is also in {first.document.position(('metadata', 'name'))}"
                problems.append(Problem(manifest.document.position(("metadata", "name")), "metadata.name", message))
            if served(str(manifest.object["apiVersion"]), manifest.kind) is None and (
                mistake := kind_mistake(manifest)
            ):
                problems.append(mistake)
    dump = sorted_dump(read.values())
    simulated = [
        replace(manifest, document=replace(manifest.document, value=as_new(manifest.object)))
        for manifest in dump.manifests
    ]
    return simulated, list(dump.not_simulated)


def _fits(manifest: Manifest, reference: str) -> bool:
    return fnmatchcase(manifest.reference, reference) or manifest.is_named(reference)


def _identity_of(manifest: Manifest) -> tuple[str, str, str]:
    """Kind, namespace and name of a document, by which it replaces another."""
    metadata = manifest.object.get("metadata") or {}
    return str(manifest.object.get("kind")), metadata.get("namespace") or "default", str(metadata.get("name"))
