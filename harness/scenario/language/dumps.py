"""Dumps of objects (a folder of a repository, the output of `kubectl get -o yaml` or `helm template`): objects that the simulation acts
on, and objects that it leaves out and names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.engine.clock import parse
from harness.karpenter.labels import azure, core
from harness.kube.admission.match_label_keys import without_merged_keys
from harness.kube.admission.service_account import account_of
from harness.kube.api.builtin_kinds import CONSEQUENCES
from harness.kube.api.kinds import KINDS, creation_rank, served
from harness.kube.api.objects import TIMES, Frozen, is_terminating, mapping_in
from harness.kube.workloads.templates import TEMPLATE_PATHS
from harness.reading.manifests import Manifest
from harness.wording import first_few
from lazyrecords import dataclass

__all__ = [
    "Dump",
    "as_new",
    "controllers",
    "deleted",
    "in_order",
    "latest_moment",
    "not_simulated_lines",
    "origin_of",
    "registered",
    "sorted_dump",
    "taken_only",
]

_FEW = 3  # names of a kind that are listed
_CRD = "CustomResourceDefinition"
_ACCOUNT = "ServiceAccount"
_MADE_BY_EACH_CLUSTER = frozenset(
    {"Namespace", "StorageClass"}
)  # some are there from the beginning of a world, with uids of its own
_NOTHING = "-"  # a field that no object has
_TIMED = frozenset({"Node", "NodeClaim", "Pod"})
_GROUPS = frozenset({core.GROUP, azure.GROUP})


@dataclass(frozen=True, slots=True)
class Dump:
    """The objects of some files, by their role.

    `manifests` are simulated. `not_simulated` are of kinds that no part of the simulation reads. `derived` have a controller in the
    files, too: it makes them anew, so that they would be there twice; a Job of a CronJob goes on by itself. `finished` take no room any
    more: pods that have ended, Jobs that are done. `registered` are NodeClaims whose Nodes are in the files, which would be launched again.
    `live`: notes about a live cluster that was read; `moment`: the time of that (RFC 3339), "" without one. `scenarios`: the files that
    are scenarios, of which only the objects are here.
    """

    manifests: tuple[Manifest, ...]
    not_simulated: tuple[Manifest, ...] = ()
    derived: tuple[Manifest, ...] = ()
    finished: tuple[Manifest, ...] = ()
    registered: tuple[Manifest, ...] = ()
    live: tuple[str, ...] = ()
    moment: str = ""
    scenarios: tuple[str, ...] = ()

    def notes(self) -> Iterator[str]:
        """Yield lines about a live cluster that was read, about scenarios and about each group that is left out."""
        yield from self.live
        for name in self.scenarios:
            yield f"{name} is a scenario: of it the objects are read, not what is given, done and expected: harness run {name}"
        yield from not_simulated_lines(self.not_simulated)
        due = [manifest for manifest in self.manifests if manifest.kind == "CronJob"]
        if due:
            yield f"pods come when they are due: {_listed(due)}"
        if self.derived:
            yield f"left to their controllers: {_listed(self.derived)}"
        if self.finished:
            yield f"not running, so not simulated: {_listed(self.finished)}"
        if self.registered:
            yield f"their Nodes are given, too: {_listed(self.registered)}"
        if self.on_absent_nodes:
            yield f"bound to Nodes that no file has, so not scheduled here: {_listed(self.on_absent_nodes)}"

    @property
    def unused(self) -> tuple[Manifest, ...]:
        """Return the objects that are not simulated, without Karpenter's own CRDs: the release stands for them, which may have been read
        from them."""
        return _without_own_crds(self.not_simulated)

    def time(self) -> int | None:
        """Return the time of the cluster's state in the files, in nanoseconds since `EPOCH`; None without a Node.

        It is the time when a live cluster was read, else the latest moment in a Node, a NodeClaim or a pod.
        """
        objects = (*self.manifests, *self.derived, *self.registered)
        if not any(obj.kind == "Node" for obj in objects):
            return None
        return parse(self.moment) if self.moment else latest_moment(obj.object for obj in objects if obj.kind in _TIMED)

    @property
    def on_absent_nodes(self) -> tuple[Manifest, ...]:
        """Return pods of a running cluster whose Nodes are missing."""
        nodes = {manifest.name for manifest in self.manifests if manifest.kind == "Node"}
        return tuple(
            manifest
            for manifest in self.manifests
            if manifest.kind == "Pod" and (manifest.object.get("spec") or {}).get("nodeName") not in (None, "", *nodes)
        )

    def value(self) -> dict[str, Any]:
        """Return the dump for JSON, with every object."""
        return {
            **({"live": list(self.live)} if self.live else {}),
            **({"scenarios": list(self.scenarios)} if self.scenarios else {}),
            "not_simulated": [_value(manifest) for manifest in self.unused],
            "left_to_controllers": [_value(manifest) for manifest in self.derived],
            "not_running": [_value(manifest) for manifest in self.finished],
            "registered": [_value(manifest) for manifest in self.registered],
            "on_absent_nodes": [_value(node) for node in self.on_absent_nodes],
        }


def _without_own_crds(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
    return tuple(
        manifest for manifest in manifests if manifest.kind != _CRD or manifest.name.partition(".")[2] not in _GROUPS
    )


def taken_only(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield the objects that a cluster takes and on which nothing in a simulation depends."""
    return (manifest for manifest in manifests if _served(manifest) and not _decides(manifest))


def not_simulated_lines(manifests: Iterable[Manifest]) -> Iterator[str]:
    """Yield a line about the objects on which nothing in a simulation depends, none where there are none."""
    named = _without_own_crds(manifest for manifest in manifests if not _decides(manifest))
    if named:
        yield f"not simulated: {_listed(named)}"


def latest_moment(objects: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the latest moment in metadata and status of objects, in nanoseconds since `EPOCH`: a dump was made about then."""
    moments: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                if key in TIMES and isinstance(item, str):
                    moments.append(item)
                else:
                    walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    for obj in objects:
        walk(obj.get("metadata"))
        walk(obj.get("status"))
    return max(map(parse, set(moments)), default=None)


def sorted_dump(
    manifests: Iterable[Manifest], live: tuple[str, ...] = (), moment: str = "", scenarios: tuple[str, ...] = ()
) -> Dump:
    """Return the objects by their role; `live`, `moment` and `scenarios` as in Dump."""
    known_kinds: list[Manifest] = []
    left_out: list[Manifest] = []
    for manifest in manifests:
        (known_kinds if _decides(manifest) else left_out).append(manifest)
    names = {(manifest.kind, manifest.name, manifest.namespace) for manifest in known_kinds}
    simulated: list[Manifest] = []
    derived: list[Manifest] = []
    finished: list[Manifest] = []
    registered: list[Manifest] = []
    for manifest in known_kinds:
        if _is_registered(manifest, names):
            registered.append(manifest)
        elif _finished(manifest.object) and manifest.kind == "Job":
            finished.append(manifest)
        elif not names.isdisjoint(controllers(manifest)) and manifest.kind != "Job":
            derived.append(manifest)
        else:
            (finished if _finished(manifest.object) else simulated).append(manifest)
    simulated = [*_assumed_accounts(simulated), *simulated]
    simulated_rest = (tuple(derived), tuple(finished), tuple(registered))
    return Dump(tuple(simulated), tuple(left_out), *simulated_rest, live, moment, scenarios)


def _assumed_accounts(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the service accounts of pods that no file has: the cluster that the files are for has them."""
    present = {manifest.identity for manifest in manifests if manifest.kind == _ACCOUNT}
    made: dict[tuple[str, str, str], Manifest] = {}
    for manifest in manifests:
        spec: Any = manifest.object
        for field in (*TEMPLATE_PATHS.get(manifest.kind, () if manifest.kind == "Pod" else (_NOTHING,)), "spec"):
            spec = mapping_in(mapping_in(spec).get(field))
        identity = (_ACCOUNT, manifest.namespace or "default", account_of(spec))
        if identity[2] != "default" and identity not in present:
            meta = {"name": identity[2], "namespace": identity[1]}
            value = {"apiVersion": "v1", "kind": _ACCOUNT, "metadata": meta}
            document = replace(manifest.document, value=value)
            made.setdefault(identity, Manifest(document, _ACCOUNT, manifest.namespace, identity[2]))
    return list(made.values())


def registered(manifests: Iterable[Manifest]) -> list[Manifest]:
    """NodeClaims whose Nodes are there, too: they would be launched a second time."""
    all_manifests = list(manifests)
    nodes = {
        (manifest.kind, manifest.name, manifest.namespace) for manifest in all_manifests if manifest.kind == "Node"
    }
    return [manifest for manifest in all_manifests if _is_registered(manifest, nodes)] if nodes else []


def in_order(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects with those first to which others refer: Namespaces, classes, NodePools; the rest in its order."""
    return sorted(manifests, key=lambda manifest: creation_rank(manifest.kind))


def deleted(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield NodePools and AKSNodeClasses that are being deleted: nobody can create such, so they are deleted once they are there."""
    return (
        manifest
        for manifest in manifests
        if manifest.kind in ("NodePool", "AKSNodeClass") and is_terminating(manifest.object)
    )


def as_new(obj: Mapping[str, Any]) -> Frozen:
    """Return an object of a file, ready to be created: without the fields that a cluster gave it (`kubectl get -o yaml`), but for its uid.

    Remove that, too, from objects of the kinds of which each cluster makes some by itself. The object given stays as it is.
    """
    metadata = obj.get("metadata")
    dropped = ("resourceVersion", "uid") if obj.get("kind") in _MADE_BY_EACH_CLUSTER else ("resourceVersion",)
    if not isinstance(metadata, dict) or not any(key in metadata for key in dropped):
        return Frozen(obj)
    new = {**obj, "metadata": {key: value for key, value in metadata.items() if key not in dropped}}
    return Frozen(without_merged_keys(new) if obj.get("kind") == "Pod" else new)


def _is_registered(manifest: Manifest, names: Collection[tuple[str, str, str]]) -> bool:
    return manifest.kind == "NodeClaim" and ("Node", _node_of(manifest.object), "") in names


def _node_of(nodeclaim: Mapping[str, Any]) -> str:
    return str((nodeclaim.get("status") or {}).get("nodeName") or "")


def controllers(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and namespace of the objects that make this one, if it names them; of a ReplicaSet's pod its Deployment, too."""
    metadata: Mapping[str, Any] = manifest.object["metadata"]
    owners = metadata.get("ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, dict) and owner.get("controller") is True:
            kind, name = str(owner.get("kind")), str(owner.get("name"))
            yield kind, name, manifest.namespace
            suffix = f"-{(metadata.get('labels') or {}).get('pod-template-hash')}"  # dumps seldom have ReplicaSets
            if kind == "ReplicaSet" and name.endswith(suffix):
                yield "Deployment", name.removesuffix(suffix), manifest.namespace


def origin_of(manifest: Manifest, dump: Dump) -> Manifest | None:
    """Return the object that makes this one anew in a simulation: its controller, or the controller of that one; None where both are
    missing."""
    simulated = {(manifest.kind, manifest.name, manifest.namespace): manifest for manifest in dump.manifests}
    derived = {
        (manifest_derived.kind, manifest_derived.name, manifest_derived.namespace): manifest_derived
        for manifest_derived in dump.derived
    }
    waiting, seen = [manifest], set()
    while waiting:
        for owner in controllers(waiting.pop()):
            if owner in simulated:
                return simulated[owner]
            if owner in derived and owner not in seen:
                seen.add(owner)
                waiting.append(derived[owner])
    return None


def _finished(obj: Mapping[str, Any]) -> bool:
    """Return whether an object runs nothing any more: a pod that has ended, a Job that is done."""
    status = obj.get("status") or {}
    if obj["kind"] == "Pod":
        return status.get("phase") in ("Succeeded", "Failed")
    if obj["kind"] != "Job":
        return False
    return any(
        condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )


def _listed(manifests: Sequence[Manifest]) -> str:
    kinds: dict[str, list[str]] = {}
    for manifest in manifests:
        foreign = f" ({manifest.object['apiVersion']})" if manifest.kind in KINDS and not _served(manifest) else ""
        kinds.setdefault(manifest.kind + foreign, []).append(manifest.name)
    parts = []
    for kind, names in kinds.items():
        meaning = CONSEQUENCES.get(kind)
        parts.append(f"{kind} {first_few(names, _FEW)}" + (f" ({meaning})" if meaning else ""))
    return "; ".join(parts)


def _served(manifest: Manifest) -> bool:
    return served(str(manifest.object["apiVersion"]), manifest.kind) is not None


def _decides(manifest: Manifest) -> bool:
    """Return whether an object is of a kind on which something here depends."""
    kind = served(str(manifest.object["apiVersion"]), manifest.kind)
    return kind is not None and kind.decides


def _value(manifest: Manifest) -> dict[str, str | None]:
    return {
        "apiVersion": str(manifest.object["apiVersion"]),
        "kind": manifest.kind,
        "namespace": manifest.namespace or None,
        "name": manifest.name,
        "means": None if _decides(manifest) else CONSEQUENCES.get(manifest.kind),
    }
