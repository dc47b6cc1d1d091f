"""The taint ``karpenter.sh/disrupted`` of Nodes that are about to go: commands and drains set it.

Core ``pkg/controllers/state/statenode.go`` (RequireNoScheduleTaint), ``pkg/controllers/node/termination/terminator/terminator.go`` (Taint).
"""

from collections.abc import Sequence

from harness.karpenter.labels.core import DISRUPTED_TAINT
from harness.kube.api.objects import Object, spec_of
from harness.kube.scheduling.taints import Taint, same_taint


def is_disrupted(node: Object) -> bool:
    """Return whether the Node has the taint."""
    return bool([taint for taint in _taints_of(node) if same_taint(taint, DISRUPTED_TAINT)])


def with_disrupted(node: Object) -> list[Taint]:
    """The Node's taints with this one, which takes the place of others with its key; as they are where it is there already."""
    taints = list(_taints_of(node))
    if is_disrupted(node):
        return taints
    return [*(taint for taint in taints if taint.get("key") != DISRUPTED_TAINT["key"]), dict(DISRUPTED_TAINT)]


def without_disrupted(node: Object) -> list[Taint]:
    """The Node's taints without this one."""
    return [taint for taint in _taints_of(node) if not same_taint(taint, DISRUPTED_TAINT)]


def _taints_of(node: Object) -> Sequence[Taint]:
    taints: Sequence[Taint] = spec_of(node).get("taints") or ()
    return taints
