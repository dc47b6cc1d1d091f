"""The log of a Karpenter that is not simulated here, as facts: launches that failed, and NodePools that nothing fits.

Core ``pkg/controllers/nodeclaim/lifecycle/launch.go``, ``pkg/controllers/provisioning``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.karpenter.validation.rejections import RejectionLayer
from harness.trace.facts import Refused
from harness.world.real.controller_log import named
from harness.world.recorder import LogLine

__all__ = ["logged_refusals"]

_FILTERED = "skipping, nodepool requirements filtered out all instance types"
_LAUNCHING = "launching nodeclaim, "


def logged_refusals(lines: Iterable[LogLine]) -> Iterator[Refused]:
    """NodeClaims whose launch failed, and NodePools that nothing fits."""
    for line in lines:
        error = str(line.values.get("error") or "")
        if line.controller == "nodeclaim.lifecycle" and error.startswith(_LAUNCHING):
            name = f"NodeClaim/{named(line.values, 'NodeClaim')}"
            yield Refused(round(line.at, 6), name, RejectionLayer.LAUNCH.value, error.removeprefix(_LAUNCHING))
        elif line.message == _FILTERED:
            name = f"NodePool/{named(line.values, 'NodePool')}"
            yield Refused(
                round(line.at, 6), name, RejectionLayer.NODEPOOL_FILTER.value, line.message.partition(", ")[2]
            )
