"""How AKS is told of taints, and of kubelet and Linux settings.

Sources: kaz ``aksmachineinstancehelpers.go``, ``customscriptsbootstrap/utils.go``.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.launch.boot.node_config import kubelet_config, linux_os_config
from harness.karpenter.launch.labels.taints import claim_taints

MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("kubelet", "told"),
    [
        ({}, {}),
        ({"podPidsLimit": 1000}, {"podMaxPids": 1000}),
        ({"podPidsLimit": 0}, {"podMaxPids": 0}),
        ({"podPidsLimit": -1}, {"podMaxPids": -1}),
        ({"podPidsLimit": -7}, {"podMaxPids": -1}),  # any number below zero is no limit
        ({"podPidsLimit": MOST}, {"podMaxPids": MOST}),
        ({"podPidsLimit": MOST + 1}, {"podMaxPids": MOST}),
        ({"containerLogMaxSize": "50Mi"}, {"containerLogMaxSizeMB": 50}),
        ({"containerLogMaxSize": "1Gi"}, {"containerLogMaxSizeMB": 1024}),
        ({"containerLogMaxSize": "100M"}, {"containerLogMaxSizeMB": 95}),
        ({"containerLogMaxSize": "2560Ki"}, {"containerLogMaxSizeMB": 3}),  # Go rounds a half away from zero
        ({"containerLogMaxSize": "512Ki"}, {"containerLogMaxSizeMB": 1}),
        ({"containerLogMaxSize": "much"}, {}),
        ({"containerLogMaxSize": ""}, {}),
        ({"containerLogMaxFiles": 7}, {"containerLogMaxFiles": 7}),
        ({"cpuCFSQuota": False}, {"cpuCfsQuota": False}),
        ({"cpuCFSQuotaPeriod": "0s"}, {}),
        ({"cpuCFSQuotaPeriod": "100ms"}, {"cpuCfsQuotaPeriod": "100ms"}),
        ({"cpuCFSQuotaPeriod": "1ns"}, {"cpuCfsQuotaPeriod": "1ns"}),
        ({"cpuCFSQuotaPeriod": "0.25s"}, {"cpuCfsQuotaPeriod": "250ms"}),  # as Go prints it
        ({"cpuManagerPolicy": "static"}, {"cpuManagerPolicy": "static"}),
        ({"cpuManagerPolicy": ""}, {}),
        ({"topologyManagerPolicy": "restricted"}, {"topologyManagerPolicy": "restricted"}),
        ({"topologyManagerPolicy": ""}, {}),
        ({"allowedUnsafeSysctls": ["net.*"]}, {"allowedUnsafeSysctls": ["net.*"]}),
        ({"allowedUnsafeSysctls": []}, {}),
        ({"failSwapOn": False}, {"failSwapOn": False}),
        (
            {"imageGCHighThresholdPercent": 90, "imageGCLowThresholdPercent": 70},
            {"imageGcHighThreshold": 90, "imageGcLowThreshold": 70},
        ),
    ],
)
def test_kubelet_settings(kubelet: dict[str, Any], told: dict[str, Any]) -> None:
    assert kubelet_config({"kubelet": kubelet}) == told


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({}, {}),
        ({"swapFileSize": "1Gi"}, {"swapFileSizeMB": 1024}),
        (
            {"swapFileSize": "1500Mi", "sysctls": {"fsFileMax": 9000}},
            {"swapFileSizeMB": 1500, "sysctls": {"fsFileMax": 9000}},
        ),
        (
            {"transparentHugePageDefrag": "madvise", "transparentHugePageEnabled": "never"},
            {"transparentHugePageDefrag": "madvise", "transparentHugePageEnabled": "never"},
        ),
    ],
)
def test_linux_settings(config: dict[str, Any], told: dict[str, Any]) -> None:
    assert linux_os_config({"linuxOSConfig": config}) == {"linuxOSConfig": told}


def test_what_the_nodeclass_does_not_set_is_left_to_aks() -> None:
    assert (kubelet_config({}), linux_os_config({})) == (None, None)


UNREGISTERED = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
OTHER_EFFECT = {"key": "karpenter.sh/unregistered", "effect": "NoSchedule"}
OTHER_KEY = {"key": "team", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("spec", "general", "startup"),
    [
        ({}, [], [UNREGISTERED]),
        ({"taints": [UNREGISTERED]}, [UNREGISTERED], []),
        ({"startupTaints": [UNREGISTERED]}, [], [UNREGISTERED]),
        ({"taints": [OTHER_EFFECT]}, [OTHER_EFFECT], [UNREGISTERED]),
        ({"startupTaints": [OTHER_KEY]}, [], [OTHER_KEY, UNREGISTERED]),
    ],
    ids=["none", "general", "startup", "another effect", "another key"],
)
def test_the_unregistered_taint_is_added_once(spec: dict[str, Any], general: list[Any], startup: list[Any]) -> None:
    """Key and effect decide (kaz ``pkg/utils/taints.go``)."""

    def named(taints: Any) -> list[tuple[str, str]]:
        return [(taint["key"], taint["effect"]) for taint in taints]

    found = claim_taints({"spec": spec})
    assert [named(taints) for taints in found] == [named(general), named(startup)]
