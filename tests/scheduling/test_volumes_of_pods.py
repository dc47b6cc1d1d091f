"""The claims of a pod: what keeps it from every node, and where its volumes are.

Sources: kubernetes pkg/scheduler/framework/plugins/volumebinding/{volume_binding,binder}.go, volumezone/volume_zone.go,
volumerestrictions/volume_restrictions.go; pkg/volume/util/storageclass.go (GetDefaultClass); component-helpers
storage/volume/pv_helpers.go (CheckNodeAffinity, IsVolumeBoundToClaim).
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.labels import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.volume_binding import (
    BIND_COMPLETED,
    PodVolumes,
    default_class,
    is_reserved_for,
    waits_for_consumer,
)
from harness.kube.scheduling.volume_restrictions import VolumeRestrictions
from harness.testing import node, pod, requirement

Object = dict[str, Any]
WAITING = {"metadata": {"name": "later"}, "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer"}
AT_ONCE = {"metadata": {"name": "now"}, "provisioner": "p", "volumeBindingMode": "Immediate"}
VOLUME = {"metadata": {"name": "v"}, "spec": {}}
IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


def claim(name: str = "data", *, bound: bool = False, phase: str = "Pending", **spec: Any) -> Object:
    metadata: Object = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    if bound:
        metadata["annotations"] = {BIND_COMPLETED: "yes"}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


def of(*claims: Object, names: tuple[str, ...] = ("data",), **more: Any) -> PodVolumes | None:
    """What a pod with claims of these names has, where these are there."""
    there = {("PersistentVolumeClaim", each["metadata"]["name"], "default"): each for each in claims}
    there |= {("StorageClass", each["metadata"]["name"], ""): each for each in (WAITING, AT_ONCE)}
    there[("PersistentVolume", "v", "")] = VOLUME
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    made = pod(volumes=[*volumes, *more.pop("volumes", [])], **more)
    return PodVolumes.for_pod(made, lambda kind, name, namespace: there.get((kind, name, namespace)))


@pytest.mark.parametrize("volumes", [[], [{"name": "e", "emptyDir": {}}], [{"name": "c", "configMap": {"name": "c"}}]])
def test_a_pod_without_claims(volumes: list[Object]) -> None:
    assert of(names=(), volumes=volumes) is None


GOING = {**claim(), "metadata": {**claim()["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        ([], 'persistentvolumeclaim "data" not found'),
        ([claim("other", storageClassName="later")], 'persistentvolumeclaim "data" not found'),
        (
            [claim(volumeName="x", phase="Lost")],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "x"',
        ),
        ([GOING], 'persistentvolumeclaim "data" is being deleted'),
        ([claim(bound=True, volumeName="gone")], 'persistentvolume "gone" not found'),
        ([claim(storageClassName="now")], IMMEDIATE),
        ([claim(storageClassName="unknown")], IMMEDIATE),
        ([claim(storageClassName="")], IMMEDIATE),
        ([claim()], IMMEDIATE),
        ([claim(volumeName="v", storageClassName="later")], IMMEDIATE),  # the binding is under way
        ([claim(bound=True, storageClassName="now")], IMMEDIATE),
    ],
)
def test_what_keeps_a_pod_from_every_node(claims: list[Object], problem: str) -> None:
    found = of(*claims)
    assert found == PodVolumes(problem)


def test_claims_that_have_a_volume_and_those_that_wait() -> None:
    bound = claim("bound", bound=True, volumeName="v", accessModes=["ReadWriteOncePod"])
    waits = claim("waits", storageClassName="later", accessModes=["ReadWriteOnce"])
    found = of(bound, waits, names=("bound", "waits"))
    assert found == PodVolumes(None, (VOLUME,), (WAITING,), (waits,), ("bound",), (VOLUME,))
    turned = of(bound, waits, names=("waits", "bound"))
    assert turned == found
    again = of(bound, claim("waits"), names=("bound", "waits"))
    assert again == PodVolumes(IMMEDIATE)


def test_an_ephemeral_volume_has_a_claim_of_its_own() -> None:
    waits = claim("web-scratch", storageClassName="later")
    found = of(waits, names=(), volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}])
    assert found == PodVolumes(None, (), (WAITING,), (waits,))


def test_the_zone_labels_of_an_ephemeral_volume_are_not_looked_at() -> None:
    """VolumeZone asks for the claims that the pod names only (volume_zone.go getPersistentVolumeClaimNameFromPod)."""
    there = {
        "PersistentVolumeClaim": claim("web-scratch", bound=True, volumeName="v"),
        "PersistentVolume": volume(**{ZONE: "r-2"}),
    }
    here = node("a", labels={ZONE: "r-1"})
    for ask in ({"ephemeral": {"volumeClaimTemplate": {}}}, {"persistentVolumeClaim": {"claimName": "web-scratch"}}):
        asking = pod("web", volumes=[{"name": "scratch", **ask}])
        found = PodVolumes.for_pod(asking, lambda kind, name, namespace: there.get(kind))
        assert found is not None
        assert found.reasons(here) == (() if "ephemeral" in ask else (OTHER_ZONE,))


def volume(*terms: Object, **labels: str) -> Object:
    spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": list(terms)}}} if terms else {}
    return {"metadata": {"name": "v", "labels": labels}, "spec": spec}


HERE, THERE = ({"matchExpressions": [requirement(ZONE, zone)]} for zone in ("r-1", "r-2"))
ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
NONE_MADE = "node(s) didn't find available persistent volumes to bind"
OTHER_ZONE = "node(s) had no available volume zone"


@pytest.mark.parametrize(
    ("volumes", "classes", "reasons"),
    [
        ([], [], ()),
        ([volume()], [WAITING], ()),
        ([volume(HERE)], [], ()),
        ([volume(THERE)], [], (ELSEWHERE,)),
        ([volume(THERE, HERE)], [], ()),
        ([volume(HERE), volume(THERE)], [], (ELSEWHERE,)),
        ([{"metadata": {"name": "v"}, "spec": {"nodeAffinity": {}}}], [], ()),
        ([{"metadata": {"name": "v"}, "spec": {"nodeAffinity": {"required": {}}}}], [], (ELSEWHERE,)),
        ([], [{"metadata": {"name": "none"}}], (NONE_MADE,)),
        ([], [WAITING, {"metadata": {"name": "none"}}], (NONE_MADE,)),
        ([volume(THERE)], [{"metadata": {"name": "none"}}], (ELSEWHERE, NONE_MADE)),
        ([volume(**{ZONE: "r-1"})], [], ()),
        ([volume(**{ZONE: "r-2"})], [], (OTHER_ZONE,)),
        ([volume(), volume(**{ZONE: "r-2"})], [], (OTHER_ZONE,)),
        ([volume(THERE, **{ZONE: "r-2"})], [], (ELSEWHERE,)),  # told once
        ([volume(**{ZONE: "r-2"})], [{"metadata": {"name": "none"}}], (NONE_MADE,)),
    ],
)
def test_why_volumes_cannot_be_used_on_a_node(
    volumes: list[Object], classes: list[Object], reasons: tuple[str, ...]
) -> None:
    there = node("a", labels={ZONE: "r-1"})
    named = tuple(volumes)
    assert PodVolumes(None, named, tuple(classes), named=named).reasons(there) == reasons


@pytest.mark.parametrize(
    ("own", "nodes", "reaches"),
    [
        ({}, {ZONE: "1"}, True),
        ({ZONE: "1"}, {}, True),  # a node without zones is as good as any
        ({ZONE: "1"}, {ZONE: "1"}, True),
        ({ZONE: "1"}, {ZONE: "2"}, False),
        ({ZONE: "1__2"}, {ZONE: "2"}, True),
        ({ZONE: "1__2"}, {ZONE: "3"}, False),
        ({ZONE: "1"}, {REGION: "r"}, False),
        ({REGION: "r"}, {REGION: "r", ZONE: "2"}, True),
        ({REGION: "r", ZONE: "1"}, {REGION: "r", ZONE: "2"}, False),
        ({REGION: "q", ZONE: "2"}, {REGION: "r", ZONE: "2"}, False),
        ({BETA_ZONE: "1"}, {BETA_ZONE: "1"}, True),
        ({BETA_ZONE: "1"}, {ZONE: "1"}, True),  # the old label of a volume is compared with the new one of a node
        ({BETA_ZONE: "1"}, {ZONE: "2"}, False),
        ({BETA_ZONE: "1"}, {BETA_ZONE: "2", ZONE: "1"}, False),
        ({ZONE: "1"}, {BETA_ZONE: "1"}, False),  # and not the other way round
        ({BETA_REGION: "r"}, {REGION: "r"}, True),
        ({BETA_REGION: "r"}, {REGION: "q"}, False),
    ],
)
def test_the_zones_of_a_volume(own: dict[str, str], nodes: dict[str, str], reaches: bool) -> None:
    volumes = (volume(**own),)
    found = PodVolumes(None, volumes, named=volumes).reasons(node("a", labels=nodes))
    assert found == (() if reaches else (OTHER_ZONE,))


def storage(name: str, made: str | None, **annotations: str) -> Object:
    metadata: Object = {"name": name, "annotations": annotations}
    return {"metadata": metadata if made is None else {**metadata, "creationTimestamp": made}}


OLD_KEY = {"storageclass.beta.kubernetes.io/is-default-class": "true"}
KEY = {"storageclass.kubernetes.io/is-default-class": "true"}


@pytest.mark.parametrize(
    ("classes", "chosen"),
    [
        ([], None),
        ([storage("a", "2026-01-01")], None),
        ([storage("a", "2026-01-01", **dict.fromkeys(KEY, "false"))], None),
        ([storage("a", "2026-01-01"), storage("b", "2026-01-01", **KEY)], "b"),
        ([storage("a", "2026-01-01", **OLD_KEY)], "a"),
        ([storage("a", "2026-01-01", **KEY), storage("b", "2026-01-02", **KEY)], "b"),
        ([storage("b", "2026-01-02", **KEY), storage("a", "2026-01-01", **KEY)], "b"),
        ([storage("b", "2026-01-01", **KEY), storage("a", "2026-01-01", **KEY)], "a"),
        ([storage("a", None, **KEY), storage("b", "2026-01-01", **KEY)], "b"),
    ],
)
def test_the_default_class(classes: list[Object], chosen: str | None) -> None:
    assert default_class(classes) == chosen


def test_a_class_waits_for_a_consumer_where_it_says_so() -> None:
    assert [waits_for_consumer(each) for each in (WAITING, AT_ONCE, {})] == [True, False, False]


@pytest.mark.parametrize(
    ("reference", "reserved"),
    [
        (None, False),
        ({"name": "data", "namespace": "default"}, True),
        ({"name": "data", "namespace": "default", "uid": ""}, True),
        ({"name": "data", "namespace": "default", "uid": "uid-data"}, True),
        ({"name": "data", "namespace": "default", "uid": "uid-before"}, False),
        ({"name": "data", "namespace": "other"}, False),
        ({"name": "other", "namespace": "default"}, False),
    ],
)
def test_a_volume_that_is_reserved_for_a_claim(reference: Object | None, reserved: bool) -> None:
    made = {"metadata": {"name": "v"}, "spec": {} if reference is None else {"claimRef": reference}}
    assert is_reserved_for(made, claim()) is reserved


@pytest.mark.parametrize(
    ("alone", "names", "namespace", "in_use"),
    [
        (("data",), ("data",), "default", True),
        (("data",), ("other", "data"), "default", True),
        (("data",), ("other",), "default", False),
        (("data",), ("data",), "elsewhere", False),
        ((), ("data",), "default", False),
    ],
)
def test_a_claim_for_one_pod_alone_is_in_use_wherever_that_pod_runs(
    alone: tuple[str, ...], names: tuple[str, ...], namespace: str, in_use: bool
) -> None:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    there = NodeInfo(node("a"), [pod("there", namespace=namespace, volumes=[{"name": "e", "emptyDir": {}}, *volumes])])
    asking, elsewhere = pod("asking", volumes=volumes), NodeInfo(node("b", labels={HOSTNAME: "b"}))
    found = VolumeRestrictions.for_pod(asking, [elsewhere, there], PodVolumes(None, alone=alone))
    assert (found is not None) is in_use
    if found is not None:
        reason, helpless = found.failure(elsewhere) or ("", True)
        assert "ReadWriteOncePod access mode already in-use by another pod" in reason
        assert not helpless
    assert VolumeRestrictions.for_pod(pod("asking"), [there], None) is None
    assert VolumeRestrictions.for_pod(asking, [there], None) is None


def disk(name: str, **fields: Any) -> Object:
    return pod(name, "1", "", volumes=[{"name": "d", **fields}])


@pytest.mark.parametrize(
    ("mine", "theirs", "clash"),
    [
        ({"gcePersistentDisk": {"pdName": "a"}}, {"gcePersistentDisk": {"pdName": "a"}}, True),
        ({"gcePersistentDisk": {"pdName": "a"}}, {"gcePersistentDisk": {"pdName": "b"}}, False),
        ({"gcePersistentDisk": {"pdName": "a"}}, {"awsElasticBlockStore": {"volumeID": "a"}}, False),
        ({"gcePersistentDisk": {"pdName": "a"}}, {"iscsi": {"pdName": "a"}}, False),
        ({"awsElasticBlockStore": {"volumeID": "a"}}, {"awsElasticBlockStore": {"volumeID": "b"}}, False),
        ({"gcePersistentDisk": {"pdName": "a", "readOnly": True}}, {"gcePersistentDisk": {"pdName": "a"}}, True),
        ({"gcePersistentDisk": {"pdName": "a"}}, {"gcePersistentDisk": {"pdName": "a", "readOnly": True}}, True),
        ({"emptyDir": {}}, {"emptyDir": {}}, False),
    ],
)
def test_disks_that_two_pods_cannot_share(mine: Object, theirs: Object, clash: bool) -> None:
    there = NodeInfo(node("a"), [pod("other"), disk("there", **theirs)])
    found = VolumeRestrictions.for_pod(disk("asking", **mine), [there], None)
    failure = found.failure(there) if found is not None else None
    assert failure == (("node(s) had no available disk", False) if clash else None)
    assert found is None or found.failure(NodeInfo(node("b"))) is None
