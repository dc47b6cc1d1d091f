"""AKS's maintenance window of node images, which the provider reads from a ConfigMap.

Source: kaz pkg/controllers/nodeclass/status/images.go (isMaintenanceWindowOpen).
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.engine.clock import Clock
from harness.engine.ports import View
from harness.karpenter.releases import ProviderRelease
from harness.kube.go.times import parse_rfc3339

__all__ = ["CONFIG_MAP", "NAMESPACE", "WindowError", "is_open"]

CONFIG_MAP = "upcoming-maintenance-window"
NAMESPACE = "kube-system"
"""The namespace that Karpenter runs in (SYSTEM_NAMESPACE)."""
_CHANNEL = "aksManagedNodeOSUpgradeSchedule"


class WindowError(Exception):
    """The ConfigMap cannot be parsed; the message is the provider's."""


def is_open(view: View, clock: Clock, release: ProviderRelease) -> bool:
    """Return whether the maintenance window of node images is open now; without one it always is. Raises WindowError."""
    config = view.get("ConfigMap", CONFIG_MAP, NAMESPACE)
    data: Mapping[str, str] = (config or {}).get("data") or {}
    start, end = (_edge(data, f"{_CHANNEL}-{edge}", release) for edge in ("start", "end"))
    if start is None and end is None:
        return True
    if start is None or end is None:
        raise WindowError(f"unexpected state, with incomplete maintenance window data for channel {_CHANNEL}")
    moments = []
    for name, text in (("start", start), ("end", end)):
        try:
            moments.append(parse_rfc3339(text))
        except ValueError as error:
            raise WindowError(
                f"error parsing maintenance window {name} time for channel {_CHANNEL}, {error}"
            ) from error
    return moments[0] < clock.datetime() < moments[1]


def _edge(data: Mapping[str, str], key: str, release: ProviderRelease) -> str | None:
    text = data.get(key)
    return None if text == "" and release.empty_window_is_none else text
