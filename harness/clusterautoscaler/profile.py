"""The settings of the cluster autoscaler by the names of AKS's `autoScalerProfile`, with AKS's defaults.

Sources: learn.microsoft.com, "Use the cluster autoscaler in AKS" (profile settings), and the REST API's ManagedClusters,
AutoScalerProfile, whose rules for values these are; autoscaler config/flags/flags.go for the flags that AKS does not offer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lazyrecords import dataclass

__all__ = ["DEFAULTS", "EXPANDERS", "Profile", "SettingError", "profile_from", "read_setting", "setting_names"]

EXPANDERS = ("least-waste", "most-pods", "priority", "random")
"""The expanders that AKS offers (REST API, Expander)."""

DEFAULTS: Mapping[str, str] = {
    "balance-similar-node-groups": "false",
    "daemonset-eviction-for-empty-nodes": "false",
    "daemonset-eviction-for-occupied-nodes": "true",
    "expander": "random",
    "ignore-daemonsets-utilization": "false",
    "max-empty-bulk-delete": "10",
    "max-graceful-termination-sec": "600",
    "max-node-provision-time": "15m",
    "max-total-unready-percentage": "45",
    "new-pod-scale-up-delay": "0s",
    "ok-total-unready-count": "3",
    "scale-down-delay-after-add": "10m",
    "scale-down-delay-after-delete": "10s",
    "scale-down-delay-after-failure": "3m",
    "scale-down-unneeded-time": "10m",
    "scale-down-unready-time": "20m",
    "scale-down-utilization-threshold": "0.5",
    "scan-interval": "10s",
    "skip-nodes-with-local-storage": "false",
    "skip-nodes-with-system-pods": "true",
}
"""AKS's defaults; `scale-down-delay-after-delete` is the scan interval where it is not set."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class SettingError(ValueError):
    """A value that AKS does not take for a setting of the profile."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings by the autoscaler's flags; durations are seconds.

    `max_empty_bulk_delete` bounds how many nodes go at a time: upstream's flag of this name became `max-scale-down-parallelism`. What AKS
    does not offer has upstream's default (config/flags/flags.go).
    """

    balance_similar_node_groups: bool = False
    daemonset_eviction_for_empty_nodes: bool = False
    daemonset_eviction_for_occupied_nodes: bool = True
    expander: str = "random"
    ignore_daemonsets_utilization: bool = False
    max_empty_bulk_delete: int = 10
    max_graceful_termination_sec: int = 600
    max_node_provision_time: float = 900.0
    max_total_unready_percentage: float = 45.0
    new_pod_scale_up_delay: float = 0.0
    ok_total_unready_count: int = 3
    scale_down_delay_after_add: float = 600.0
    scale_down_delay_after_delete: float = 10.0
    scale_down_delay_after_failure: float = 180.0
    scale_down_unneeded_time: float = 600.0
    scale_down_unready_time: float = 1200.0
    scale_down_utilization_threshold: float = 0.5
    scan_interval: float = 10.0
    skip_nodes_with_local_storage: bool = False
    skip_nodes_with_system_pods: bool = True
    # flags that AKS does not offer
    blocking_system_pod_disruption_timeout: float = 3600.0
    expendable_pods_priority_cutoff: int = -10
    initial_node_group_backoff: float = 300.0
    max_drain_parallelism: int = 1
    max_node_group_backoff: float = 1800.0
    max_nodes_per_scale_up: int = 1000
    max_node_startup_time: float = 900.0
    max_pod_eviction_time: float = 120.0
    min_replica_count: int = 0
    node_delete_delay_after_taint: float = 5.0
    node_group_backoff_reset_timeout: float = 10800.0
    skip_nodes_with_custom_controller_pods: bool = True
    unremovable_node_recheck_timeout: float = 300.0


def read_setting(key: str, text: str) -> Any:
    """Return the value of one setting. Raises KeyError for a key that the profile has not, SettingError for a wrong value."""
    return _READERS[key](text)


def setting_names() -> frozenset[str]:
    """Return the keys that a profile has."""
    return frozenset(_READERS)


def profile_from(settings: Mapping[str, str]) -> Profile:
    """Return the profile with these settings, AKS's defaults for the others. Raises as `read_setting` does."""
    values = {key.replace("-", "_"): read_setting(key, text) for key, text in settings.items()}
    if "scan_interval" in values:
        values.setdefault("scale_down_delay_after_delete", values["scan_interval"])
    return Profile(**values)


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise SettingError(f"'true' or 'false' is expected, not '{text}'")
    return text == "true"


def _count(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or int(text) < least:
            raise SettingError(f"a whole number from {least} is expected, not '{text}'")
        return int(text)

    return read


def _share(most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) > most:
            raise SettingError(f"a number from 0 to {most:g} is expected, not '{text}'")
        return float(text)

    return read


def _duration(units: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        match = re.fullmatch(rf"(\d{{1,7}})([{units}])", text)
        if match is None:
            words = " or ".join(units)
            raise SettingError(f"a whole number with the unit {words} is expected, such as 10{units[0]}, not '{text}'")
        return int(match[1]) * _UNITS[match[2]]

    return read


def _positive(read: Callable[[str], float]) -> Callable[[str], float]:
    def read_positive(text: str) -> float:
        seconds = read(text)
        if not seconds:
            raise SettingError(f"a time longer than 0 is expected, not '{text}'")
        return seconds

    return read_positive


def _expander(text: str) -> str:
    if text not in EXPANDERS:
        raise SettingError(f"one of {', '.join(EXPANDERS)} is expected, not '{text}'")
    return text


_READERS: Mapping[str, Callable[[str], Any]] = {
    "balance-similar-node-groups": _flag,
    "daemonset-eviction-for-empty-nodes": _flag,
    "daemonset-eviction-for-occupied-nodes": _flag,
    "expander": _expander,
    "ignore-daemonsets-utilization": _flag,
    "max-empty-bulk-delete": _count(1),
    "max-graceful-termination-sec": _count(0),
    "max-node-provision-time": _duration("m"),
    "max-total-unready-percentage": _share(100),
    "new-pod-scale-up-delay": _duration("smh"),
    "ok-total-unready-count": _count(0),
    "scale-down-delay-after-add": _duration("m"),
    "scale-down-delay-after-delete": _duration("sm"),
    "scale-down-delay-after-failure": _duration("m"),
    "scale-down-unneeded-time": _duration("m"),
    "scale-down-unready-time": _duration("m"),
    "scale-down-utilization-threshold": _share(1),
    "scan-interval": _positive(_duration("s")),
    "skip-nodes-with-local-storage": _flag,
    "skip-nodes-with-system-pods": _flag,
}
