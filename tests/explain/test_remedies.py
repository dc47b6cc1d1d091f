"""What a person can do about pods that Karpenter passes over stands below what Karpenter says."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain.pods.remedies import gate_remedy, scheduler_remedy, volume_remedies
from harness.explain.pods.waiting import waiting_reasons
from harness.testing import pod
from harness.world import World

CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "managed-cs",
    },
}
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "managed-csi"},
    "provisioner": "disk.csi.azure.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def with_claim(name: str) -> dict[str, Any]:
    return pod("a", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}])


def world(*objects: dict[str, Any]) -> World:
    made = World()
    made.apply(*objects)
    return made


def test_a_claim_that_is_not_there_and_the_nearest_that_is() -> None:
    (line,) = volume_remedies(world(CLASS, CLAIM), with_claim("dta"))
    assert line == "there is no PersistentVolumeClaim default/dta: did you mean 'data'?"
    (line,) = volume_remedies(world(), with_claim("dta"))
    assert line == "there is no PersistentVolumeClaim default/dta: create it, or add it to the files"


def test_a_claim_of_a_class_that_is_not_there() -> None:
    (line,) = volume_remedies(world(CLASS, CLAIM), with_claim("data"))
    said = "there is no StorageClass managed-cs, which PersistentVolumeClaim default/data asks for"
    assert line.startswith(f"{said}: did you mean 'managed-csi'")
    of_class = {**CLAIM, "spec": {**CLAIM["spec"], "storageClassName": "managed-csi"}}
    assert list(volume_remedies(world(CLASS, of_class), with_claim("data"))) == []


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        ({"schedulingGates": [{"name": "acme.io/quota"}]}, gate_remedy),
        ({"schedulerName": "volcano"}, scheduler_remedy),
    ],
)
def test_gates_and_other_schedulers_have_somebody_to_act(spec: dict[str, Any], remedy: Any) -> None:
    held = pod("a", **spec)
    first, second = list(waiting_reasons(world(held), held, ""))[-2:]
    assert first.startswith("Karpenter does not look at it: ")
    assert second == remedy(held)
    assert next(iter(spec.values())) == "volcano" or "acme.io/quota" in second
