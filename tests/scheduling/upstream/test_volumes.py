"""Volumes: attach limits, zones, claims that cannot be used. Source: core scheduling/suite_test.go, provisioning/suite_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import CAPACITY, HOST, SPECIAL, ZONE, instance_type
from tests.scheduling.upstream.objects import affinity, near, need, nodepool, pod, pods, spread
from tests.scheduling.upstream.spreading import TEST, alike
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

DRIVER = "fake.csi.provider"
LATE = "WaitForFirstConsumer"
ROOMY = [instance_type("instance-type", cpu="1024", pods="1024")]


def claim(name: str, *, volume: str = "", bound: bool = True, phase: str = "", **metadata: Any) -> Json:
    """A PersistentVolumeClaim; one with a volume says that it is bound."""
    marks = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}} if volume and bound else {}
    spec: Json = {"volumeName": volume} if volume else {}
    if "sc" in metadata:
        spec["storageClassName"] = metadata.pop("sc")
    return {
        "metadata": {"name": name, **marks, **metadata},
        "spec": spec,
        **({"status": {"phase": phase}} if phase else {}),
    }


def volume(
    name: str, *terms: list[Json], zones: tuple[str, ...] = (), source: Json | None = None, **metadata: Any
) -> Json:
    """A PersistentVolume, of a CSI driver unless a source is given; `terms` are alternatives."""
    alternatives = list(terms) or ([[need(ZONE, "In", *zones)]] if zones else [])
    spec: Json = source or {"csi": {"driver": "test.driver", "volumeHandle": "test-handle"}}
    if alternatives:
        required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in alternatives]}
        spec = {**spec, "nodeAffinity": {"required": required}}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def storage_class(
    name: str, *terms: dict[str, str], zones: tuple[str, ...] = (), mode: str = LATE, provisioner: str = "other"
) -> Json:
    """A StorageClass; `terms` are alternatives of keys and values."""
    allowed = [[{"key": key, "values": [value]} for key, value in term.items()] for term in terms]
    if zones:
        allowed = [[{"key": ZONE, "values": list(zones)}]]
    made: Json = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    return made if not allowed else {**made, "allowedTopologies": [{"matchLabelExpressions": term} for term in allowed]}


def with_attach_limit(cluster: Trial, count: int) -> None:
    """One Node that is there, and takes `count` volumes."""
    cluster.provision(pod("first"))
    (name,) = cluster.nodes
    driver = {"name": DRIVER, "nodeID": "id", "allocatable": {"count": count}}
    cluster.objects["csinodes"] = [{"metadata": {"name": name}, "spec": {"drivers": [driver]}}]


def test_attach_limits(trial: NewTrial) -> None:
    """should launch multiple nodes if required due to volume limits"""
    cluster = trial(nodepool(limits=None), types=ROOMY)
    with_attach_limit(cluster, 10)
    names = [(f"a-{number}", f"b-{number}") for number in range(6)]
    cluster.objects["storageclasses"] = [storage_class("sc", zones=("test-zone-1",), provisioner=DRIVER)]
    cluster.objects["pvcs"] = [claim(name, sc="sc") for pair in names for name in pair]
    plan = cluster.provision(*(pod(f"pod-{number}", claims=pair) for number, pair in enumerate(names)))
    assert [len(found) for found in plan.existing().values()] == [5]
    assert len(plan.claims) == 1


def test_a_volume_counts_once(trial: NewTrial) -> None:
    """should launch a single node if all pods use the same PVC"""
    cluster = trial(nodepool(limits=None), types=ROOMY)
    with_attach_limit(cluster, 10)
    cluster.objects["storageclasses"] = [
        storage_class("sc", zones=("test-zone-1",), mode="Immediate", provisioner=DRIVER)
    ]
    cluster.objects["pvs"] = [volume("pv", zones=("test-zone-1",))]
    cluster.objects["pvcs"] = [claim("claim", volume="pv", sc="sc")]
    plan = cluster.provision(*pods(100, claims=["claim"]))
    assert not plan.claims
    assert len(cluster.nodes) == 1


def test_volumes_without_a_driver(trial: NewTrial) -> None:
    """should not fail for NFS volumes"""
    cluster = trial(nodepool(limits=None), types=ROOMY)
    cluster.provision(pod("first"))
    cluster.objects["pvs"] = [volume("pv", zones=("test-zone-1",), source={"nfs": {"server": "s", "path": "/p"}})]
    cluster.objects["pvcs"] = [claim("claim", volume="pv", sc="")]
    cluster.provision(*pods(5, claims=["claim", "claim"]))
    assert len(cluster.nodes) == 1


EITHER = ([need(ZONE, "In", "test-zone-1")], [need(ZONE, "In", "test-zone-2")])


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param(
            {
                "pvs": [volume(f"pv-{n}", *EITHER) for n in range(2)],
                "pvcs": [claim(f"claim-{n}", volume=f"pv-{n}") for n in range(2)],
            },
            id="should schedule pods using a PV with multiple zones",
        ),
        pytest.param(
            {
                "storageclasses": [storage_class("sc", {ZONE: "test-zone-1"}, {ZONE: "test-zone-2"})],
                "pvcs": [claim(f"claim-{n}", sc="sc") for n in range(2)],
            },
            id="should schedule pods using a StorageClass with multiple zones in AllowedTopologies",
        ),
    ],
)
def test_alternatives(trial: NewTrial, objects: Json) -> None:
    """Both pods must be in different zones, and each volume may be in either of two."""
    labels = {"app": "multi-zone"}
    cluster = trial(nodepool(limits=None), types=ROOMY, objects=objects)
    apart = affinity(apart=[near(ZONE, labels)])
    plan = cluster.provision(*(pod(f"pod-{n}", labels=labels, claims=[f"claim-{n}"], affinity=apart) for n in range(2)))
    assert not plan.answer["errors"]
    assert {cluster.labels(f"pod-{n}")[ZONE] for n in range(2)} == {"test-zone-1", "test-zone-2"}


def test_two_volumes_with_one_common_place(trial: NewTrial) -> None:
    """should schedule pods when a valid multi-volume topology alternative remains after pruning disjoint branches"""
    first = storage_class("first", {SPECIAL: "required"}, {SPECIAL: "optional"})
    second = storage_class(
        "second", {ZONE: "test-zone-1", SPECIAL: "optional"}, {ZONE: "test-zone-2", SPECIAL: "required"}
    )
    objects = {"storageclasses": [first, second], "pvcs": [claim("a", sc="first"), claim("b", sc="second")]}
    cluster = trial(types="five", objects=objects)
    cluster.provision(pod(claims=["a", "b"]))
    assert {key: cluster.labels("pod")[key] for key in (ZONE, SPECIAL)} == {ZONE: "test-zone-1", SPECIAL: "optional"}


LOCAL, HOST_PATH = {"local": {"path": "/mnt"}}, {"hostPath": {"path": "/mnt"}}
SOMEWHERE = [need(HOST, "In", "existing-host")]


@pytest.mark.parametrize("source", [LOCAL, HOST_PATH], ids=["local", "hostpath"])
@pytest.mark.parametrize(
    "terms",
    [
        pytest.param([SOMEWHERE], id="should ignore hostname affinity scheduling when using local path volumes"),
        pytest.param(
            [SOMEWHERE, [need(ZONE, "In", "invalid-zone")]],
            id="should preserve unconstrained PV alternatives after ignoring hostname affinity",
        ),
    ],
)
def test_volumes_of_one_host(trial: NewTrial, terms: list[list[Json]], source: Json) -> None:
    objects = {"pvs": [volume("pv", *terms, source=source)], "pvcs": [claim("claim", volume="pv")]}
    assert len(trial(objects=objects).provision(pod(claims=["claim"])).claims) == 1


def test_a_disk_of_a_host_that_is_not_there(trial: NewTrial) -> None:
    """should not ignore hostname affinity when using non-local path volumes"""
    objects = {"pvs": [volume("pv", SOMEWHERE)], "pvcs": [claim("claim", volume="pv")]}
    assert not trial(objects=objects).provision(pod(claims=["claim"])).claims


IMMEDIATE = storage_class("sc", zones=("test-zone-1",), mode="Immediate")
WAITING = storage_class("sc", zones=("test-zone-1",))
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["kubernetes.io/pvc-protection"]}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param(
            {"storageclasses": [IMMEDIATE], "pvcs": [claim("claim", sc="sc")]},
            id="should not launch nodes for pod with unbound volume for volumeBindingMode immediate",
        ),
        pytest.param(
            {"storageclasses": [WAITING], "pvcs": [claim("claim", sc="sc", **GOING)]},
            id="should not launch nodes for pod with deleting persistentVolumeClaim",
        ),
        pytest.param(
            {"pvs": [volume("pv", **GOING)], "pvcs": [claim("claim", volume="pv")]},
            id="should not launch nodes for pod with bound persistentVolume that is marked for deletion",
        ),
        pytest.param(
            {"storageclasses": [WAITING], "pvcs": [claim("claim", sc="sc", phase="Lost")]},
            id="should not launch nodes for pod with Lost persistentVolumeClaim",
        ),
        pytest.param(
            {
                "storageclasses": [WAITING],
                "pvs": [volume("pv")],
                "pvcs": [claim("claim", volume="pv", bound=False, sc="sc")],
            },
            id="should handle pods with PVCs with defined volumeName: not bound yet",
        ),
        pytest.param({}, id="should not schedule if invalid pvc"),
        pytest.param(
            {"pvcs": [claim("claim", sc="")]},
            id="should not schedule with an empty storage class if the pvc is not bound",
        ),
        pytest.param(
            {"pvcs": [claim("claim", sc="none")]},
            id="should not schedule with a missing storage class if the pvc is not bound",
        ),
        pytest.param(
            {"pvcs": [claim("claim", volume="none")]},
            id="should schedule valid pods when a pod with an invalid pvc is encountered (volume name)",
        ),
    ],
)
def test_claims_that_cannot_be_used(trial: NewTrial, objects: Json) -> None:
    """The pod is not considered; one without volumes is."""
    plan = trial(objects=objects).provision(pod(claims=["claim"]), pod("other"))
    assert plan.groups() == [["other"]]
    assert plan.answer["ignored"]["default/pod"]


ZONES = storage_class("sc", zones=("test-zone-2", "test-zone-3"), provisioner="test-provisioner")


@pytest.mark.parametrize(
    ("objects", "zones", "found"),
    [
        pytest.param(
            {"storageclasses": [ZONES], "pvcs": [claim("claim", sc="sc")]},
            ("test-zone-1", "test-zone-3"),
            "test-zone-3",
            id="should schedule to storage class zones if volume does not exist",
        ),
        pytest.param(
            {"storageclasses": [ZONES], "pvcs": [claim("claim", sc="sc")]},
            ("test-zone-1",),
            "",
            id="should not schedule if storage class zones are incompatible",
        ),
        pytest.param(
            {
                "storageclasses": [ZONES],
                "pvcs": [claim("claim", volume="pv", sc="sc")],
                "pvs": [volume("pv", zones=("test-zone-3",))],
            },
            (),
            "test-zone-3",
            id="should schedule to volume zones if volume already bound",
        ),
        pytest.param(
            {
                "storageclasses": [ZONES],
                "pvcs": [claim("claim", volume="pv", sc="sc")],
                "pvs": [volume("pv", zones=("test-zone-3",))],
            },
            ("test-zone-1",),
            "",
            id="should not schedule if volume zones are incompatible",
        ),
        pytest.param(
            {"pvcs": [claim("claim", volume="pv", sc="")], "pvs": [volume("pv")]},
            (),
            "any",
            id="should schedule with an empty storage class if the pvc is bound",
        ),
        pytest.param(
            {"pvcs": [claim("claim", volume="pv", sc="none")], "pvs": [volume("pv")]},
            (),
            "any",
            id="should schedule with a missing storage class if the pvc is bound",
        ),
    ],
)
@pytest.mark.parametrize("ephemeral", [False, True], ids=["claim", "ephemeral volume"])
def test_zones_of_volumes(trial: NewTrial, objects: Json, zones: tuple[str, ...], found: str, ephemeral: bool) -> None:
    """The claim of an ephemeral volume is named after its pod."""
    fields: Json = {"needs": [need(ZONE, "In", *zones)]} if zones else {}
    if ephemeral:
        template = {"spec": {"storageClassName": "sc", "accessModes": ["ReadWriteOnce"]}}
        fields["volumes"] = [{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}]
        renamed = [{**each, "metadata": {**each["metadata"], "name": "pod-v"}} for each in objects["pvcs"]]
        objects = {**objects, "pvcs": renamed}
    else:
        fields["claims"] = ["claim"]
    cluster = trial(objects=objects)
    cluster.provision(pod(**fields))
    assert cluster.scheduled("pod") is bool(found)
    assert found in ("", "any") or cluster.labels("pod")[ZONE] == found


def test_the_zone_of_a_volume_does_not_give_way(trial: NewTrial) -> None:
    """should not relax an added volume topology zone node-selector away"""
    objects = {
        "storageclasses": [ZONES],
        "pvcs": [claim("claim", volume="pv", sc="sc")],
        "pvs": [volume("pv", zones=("test-zone-3",))],
    }
    terms = [[need("example.com/label", "In", "unsupported")], [need(CAPACITY, "In", "on-demand")]]
    cluster = trial(objects=objects)
    cluster.provision(pod(claims=["claim"], affinity=affinity(terms=terms)))
    assert cluster.labels("pod")[ZONE] == "test-zone-3"


def test_the_zone_of_a_volume_is_no_limit_of_domains(trial: NewTrial) -> None:
    """should schedule pod with PVC and TSC minDomains=3 when pods are spread across 3 zones"""
    rule = spread(ZONE, TEST, minDomains=3)
    objects = {"pvs": [volume("pv", zones=("test-zone-1",))], "pvcs": [claim("claim", volume="pv")]}
    cluster = trial(nodepool("default", need(CAPACITY, "In", "on-demand")), objects=objects)
    cluster.provision(*alike(3, rule))
    assert cluster.zones(TEST) == [1, 1, 1]
    cluster.provision(*alike(1, rule, prefix="mounted", claims=["claim"]))
    assert cluster.count(ZONE, TEST) == {"test-zone-1": 2, "test-zone-2": 1, "test-zone-3": 1}
