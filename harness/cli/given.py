"""The objects of files given to a command: those that the simulation acts on, and those that it leaves out and names.

Files come as they are found: a folder of a repository, what `kubectl get -o yaml` prints, the output of `helm template`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cli.output import display_name
from harness.kube.api.builtin_kinds import CONSEQUENCES
from harness.kube.api.kinds import KINDS, served
from harness.reading.documents import read_stream
from harness.reading.manifests import Manifest, manifests_of_text, read_manifests
from harness.reading.problems import Problem, ScenarioError
from harness.reading.sources import files_in
from harness.scenario.language.core_objects import core_problems, field_problems
from harness.scenario.language.kind_names import kind_mistake

__all__ = ["Given", "read_files"]

STDIN = Path("-")
_FEW = 3  # names of a kind that are listed


@dataclass(frozen=True, slots=True)
class Given:
    """What some files hold.

    `manifests` are simulated. `not_simulated` are of kinds that no part of the simulation reads. `derived` have a controller that
    is given too: it makes them anew, so that they would be there twice. `finished` take no room any more, or not yet: pods that have
    ended, Jobs that are done or suspended. `registered` are NodeClaims whose Nodes are given, which would be launched a second time.
    `live`: what is to be said of a live cluster that was read.
    """

    manifests: tuple[Manifest, ...]
    not_simulated: tuple[Manifest, ...] = ()
    derived: tuple[Manifest, ...] = ()
    finished: tuple[Manifest, ...] = ()
    registered: tuple[Manifest, ...] = ()
    live: tuple[str, ...] = ()

    def notes(self) -> Iterator[str]:
        """What was read of a live cluster, and a line for each group that is left out."""
        yield from self.live
        if self.not_simulated:
            yield f"not simulated: {_listed(self.not_simulated)}"
        if self.derived:
            yield f"left to their controllers: {_listed(self.derived)}"
        if self.finished:
            yield f"not running, so not simulated: {_listed(self.finished)}"
        if self.registered:
            yield f"their Nodes are there and stay: {_listed(self.registered)}"
        if self.on_absent_nodes:
            yield f"bound to Nodes that no file has, so not scheduled here: {_listed(self.on_absent_nodes)}"

    @property
    def on_absent_nodes(self) -> tuple[Manifest, ...]:
        """Pods of a running cluster whose Nodes were not given with them."""
        nodes = {one.name for one in self.manifests if one.kind == "Node"}
        return tuple(
            one
            for one in self.manifests
            if one.kind == "Pod" and (one.object.get("spec") or {}).get("nodeName") not in (None, "", *nodes)
        )

    def value(self) -> dict[str, Any]:
        """The same for JSON, with every object."""
        return {
            **({"live": list(self.live)} if self.live else {}),
            "not_simulated": [_value(one) for one in self.not_simulated],
            "left_to_controllers": [_value(one) for one in self.derived],
            "not_running": [_value(one) for one in self.finished],
            "registered": [_value(one) for one in self.registered],
            "on_absent_nodes": [_value(one) for one in self.on_absent_nodes],
        }


def read_files(paths: Sequence[Path], others: Sequence[Manifest] = (), live: tuple[str, ...] = ()) -> Given:
    """The objects of all files: of folders every YAML and JSON file, of `-` standard input; and others, of a live cluster.

    A file's object takes the place of one of the same name among the others. Raises ScenarioError with every mistake of all of them.
    """
    found: list[Manifest] = []
    left_out: list[Manifest] = []
    problems: list[Problem] = []
    read: list[tuple[Manifest, ...]] = []
    for path in _files(paths, problems):
        try:
            read.append(_read(path))
        except ScenarioError as error:
            problems += error.problems
    own = {_identity(one) for manifests in read for one in manifests}
    for manifests in (tuple(one for one in others if _identity(one) not in own), *read):
        for manifest in manifests:
            api_version = str(manifest.object["apiVersion"])
            if served(api_version, manifest.kind) is not None:
                found.append(manifest)
                problems += [*core_problems(manifest), *field_problems(manifest)]
            elif mistake := kind_mistake(manifest):
                problems.append(mistake)
            else:
                left_out.append(manifest)
    if problems:
        raise ScenarioError(problems)
    names = {(one.kind, one.name, one.namespace) for one in found}
    kept: list[Manifest] = []
    derived: list[Manifest] = []
    finished: list[Manifest] = []
    registered: list[Manifest] = []
    for manifest in found:
        if manifest.kind == "NodeClaim" and ("Node", _node_of(manifest.object), "") in names:
            registered.append(manifest)
        elif not names.isdisjoint(_controllers(manifest)):
            derived.append(manifest)
        else:
            (finished if _finished(manifest.object) else kept).append(manifest)
    return Given(tuple(kept), tuple(left_out), tuple(derived), tuple(finished), tuple(registered), live)


def _node_of(nodeclaim: Mapping[str, Any]) -> str:
    return str((nodeclaim.get("status") or {}).get("nodeName") or "")


def _files(paths: Sequence[Path], problems: list[Problem]) -> Iterator[Path]:
    for path in paths:
        try:
            yield from files_in(path, display_name(path))
        except ScenarioError as error:
            problems += error.problems


def _read(path: Path) -> tuple[Manifest, ...]:
    if path == STDIN:
        return manifests_of_text(read_stream(sys.stdin.buffer, "stdin"), "stdin")
    return read_manifests(path, display_name(path))


def _identity(manifest: Manifest) -> tuple[str, str, str]:
    return manifest.kind, manifest.namespace or "default", manifest.name


def _controllers(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Kind, name and namespace of the objects that make this one, if it says so; of a ReplicaSet's pod its Deployment, too."""
    metadata: Mapping[str, Any] = manifest.object["metadata"]
    owners = metadata.get("ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, dict) and owner.get("controller") is True:
            kind, name = str(owner.get("kind")), str(owner.get("name"))
            yield kind, name, manifest.namespace
            suffix = f"-{(metadata.get('labels') or {}).get('pod-template-hash')}"  # ReplicaSets are seldom given
            if kind == "ReplicaSet" and name.endswith(suffix):
                yield "Deployment", name.removesuffix(suffix), manifest.namespace


def _finished(obj: Mapping[str, Any]) -> bool:
    """Whether nothing of it runs: a pod that has ended, a Job that is done or suspended."""
    status = obj.get("status") or {}
    if obj["kind"] == "Pod":
        return status.get("phase") in ("Succeeded", "Failed")
    if obj["kind"] != "Job":
        return False
    ended = any(
        one.get("type") in ("Complete", "Failed") and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )
    return ended or (obj.get("spec") or {}).get("suspend") is True


def _listed(manifests: Sequence[Manifest]) -> str:
    kinds: dict[str, list[str]] = {}
    for one in manifests:
        foreign = f" ({one.object['apiVersion']})" if one.kind in KINDS and not _served(one) else ""
        kinds.setdefault(one.kind + foreign, []).append(one.name)
    told = []
    for kind, names in kinds.items():
        more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
        meaning = CONSEQUENCES.get(kind)
        told.append(f"{kind} {', '.join(names[:_FEW])}{more}" + (f" ({meaning})" if meaning else ""))
    return "; ".join(told)


def _served(manifest: Manifest) -> bool:
    return served(str(manifest.object["apiVersion"]), manifest.kind) is not None


def _value(manifest: Manifest) -> dict[str, str | None]:
    return {
        "apiVersion": str(manifest.object["apiVersion"]),
        "kind": manifest.kind,
        "namespace": manifest.namespace or None,
        "name": manifest.name,
        "means": None if _served(manifest) else CONSEQUENCES.get(manifest.kind),
    }
