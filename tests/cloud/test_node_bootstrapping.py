"""Custom data that AKS makes for VMs of its own, and what a kubelet reserves."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.aks.kubelet import TOKEN, KubeletText, reserved_cpu, reserved_memory_by_pods, reserved_memory_by_size
from fakeazure.arm.messages import Response
from tests.cloud.aks_machine import PROFILE
from tests.cloud.driver import Driver, error_of


def bootstrap(driver: Driver, profile: Mapping[str, Any]) -> Response:
    cluster = driver.cluster_path().replace("managedClusters", "managedclusters")  # as the client spells it
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
    ("vcpus", "millicores"),
    [
        *((1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740)),  # the documentation's table
        *((3, 120), (5, 150), (6, 160), (20, 300), (48, 580), (96, 1060), (120, 1300)),  # its rule between and above
    ],
)
def test_reserved_cpu(vcpus: int, millicores: int) -> None:
    assert reserved_cpu(vcpus) == millicores


@pytest.mark.parametrize(
    ("gib", "mebibytes"),
    [
        (2, 512),
        (3.5, 896),
        (4, 1024),
        (6, 1433),
        (8, 1843),
        (12, 2252),
        (16, 2662),
        (32, 3645),
        (128, 9543),
        (256, 12165),
    ],
)
def test_reserved_memory_before_1_29(gib: float, mebibytes: int) -> None:
    assert reserved_memory_by_size(gib) == mebibytes


@pytest.mark.parametrize(
    ("gib", "pods", "mebibytes"),
    [
        (2, 30, 512),
        (2, 110, 512),
        (4, 30, 650),
        (4, 110, 1024),
        (8, 110, 2048),
        (16, 110, 2250),
        (16, 250, 4096),
        (32, 250, 5050),
    ],
)
def test_reserved_memory_from_1_29_on(gib: float, pods: int, mebibytes: int) -> None:
    assert reserved_memory_by_pods(gib, pods) == mebibytes


@pytest.mark.parametrize(("kubernetes", "memory"), [("1.28.15", "3645Mi"), ("1.29.0", "650Mi"), ("v1.36.3", "650Mi")])
def test_the_rule_changes_with_1_29(kubernetes: str, memory: str) -> None:
    told = KubeletText({}, (), 30, 8, 32.0, kubernetes)
    assert f"--kube-reserved=cpu=180m,memory={memory}" in told.flags()
