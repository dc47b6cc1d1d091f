"""The Events about a launch that found no capacity: on the NodeClaim, and on the pods that wait for its machine.

Source: core pkg/controllers/nodeclaim/lifecycle/{launch,events}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.engine.names import NodeClaimName
from harness.engine.ports import Sink, View
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import Object, name_of
from harness.kube.scheduling.pods import is_active, is_scheduled

__all__ = ["LaunchFailures"]

_REASON = "InsufficientCapacityError"
_OF_ERROR = 300
_IN_ALL = 1024
_CUT = "..."


class LaunchFailures:
    """Publishes these Events in the words of a core release."""

    def __init__(
        self, view: View, sink: Sink, core: CoreRelease, expected_on: Callable[[NodeClaimName], Iterable[str]]
    ) -> None:
        """`expected_on` returns the pods (``namespace/name``) that a simulation placed on a NodeClaim's machine."""
        self._view, self._sink, self._core, self._expected_on = view, sink, core, expected_on

    def shortened(self, message: str) -> str:
        """A message, truncated to what a condition or an Event has room for."""
        if self._core.long_messages:
            return message if len(message) <= _IN_ALL else message[: _IN_ALL - len(_CUT)] + _CUT
        return message if len(message) < _OF_ERROR else message[:_OF_ERROR] + _CUT

    def tell(self, claim: Object, error: str) -> None:
        """Publishes an Event on the NodeClaim, then, in newer releases, one on each active pod meant for it that has no Node yet."""
        name = name_of(claim)
        self._sink.event(claim, "Warning", _REASON, self._event(f"NodeClaim {name} event", error))
        if not self._core.tells_pods_of_launch:
            return
        for key in self._expected_on(NodeClaimName(name)):
            namespace, _, pod_name = key.partition("/")
            pod = self._view.get("Pod", pod_name, namespace)
            if pod is None or is_scheduled(pod) or not is_active(pod):
                continue
            text = self._event(f"NodeClaim {name} nominated for this pod failed to launch", error)
            self._sink.event(pod, "Warning", _REASON, text)

    def _event(self, prefix: str, error: str) -> str:
        if self._core.long_messages:
            return self.shortened(f"{prefix}: {error}")
        return f"{prefix}: {self.shortened(error)}"
