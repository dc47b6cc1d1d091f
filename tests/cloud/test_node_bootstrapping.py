"""Custom data that AKS makes for VMs of its own, and what a kubelet reserves."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.aks.kubelet import TOKEN, reserved_cpu, reserved_memory_by_pods, reserved_memory_by_size
from fakeazure.arm.messages import Response
from tests.cloud.aks_machine import PROFILE
from tests.cloud.driver import Driver, error_of


def bootstrap(driver: Driver, profile: Mapping[str, Any]) -> Response:
    names = driver.cloud.state.settings
    cluster = driver.path("Microsoft.ContainerService/managedclusters", names.cluster, group=names.resource_group)
    body = {"provisionProfile": profile, "provisionHelperValues": {"skuCPU": 2, "skuMemory": 8}}
    return driver.cloud.request("GET", f"{cluster}/nodeBootstrapping", body=body)  # no api-version


def test_bootstrapping_answers_custom_data_and_command_with_the_token_left_open() -> None:
    answer = bootstrap(Driver(), PROFILE)
    assert answer.status == 200
    assert answer.body is not None
    script = base64.b64decode(answer.body["customData"]).decode()
    assert 'KUBELET_NODE_LABELS="agentpool=,kubernetes.azure.com/agentpool=,a=1,b=2"' in script
    assert "--register-with-taints=t=1:NoSchedule,karpenter.sh/unregistered:NoExecute" in script
    assert "--max-pods=250" in script
    assert TOKEN in script
    assert TOKEN in answer.body["cse"]


@pytest.mark.parametrize(
    ("field", "name"), [("name", "Name"), ("maxPods", "MaxPods"), ("vnetSubnetID", "VnetSubnetID")]
)
def test_bootstrapping_names_the_missing_field(field: str, name: str) -> None:
    profile = {key: value for key, value in PROFILE.items() if key != field}
    status, code, message = error_of(bootstrap(Driver(), profile))
    assert (status, code) == (400, "MissingRequiredProperty")
    assert message.endswith(f"missing field: {name} cannot be empty")


@pytest.mark.parametrize(
    ("vcpus", "gib", "cpu", "by_size"),
    [
        (2, 3.5, 100, 896),
        (2, 4, 100, 1024),
        (2, 8, 100, 1843),
        (4, 16, 140, 2662),
        (8, 32, 180, 3645),
        (64, 256, 740, 12165),
    ],
)
def test_reservations(vcpus: int, gib: float, cpu: int, by_size: int) -> None:
    assert reserved_cpu(vcpus) == cpu
    assert reserved_memory_by_size(gib) == by_size
    assert reserved_memory_by_pods(gib, 30) == min(650, int(gib * 256))
