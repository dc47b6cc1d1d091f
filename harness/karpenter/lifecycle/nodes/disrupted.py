"""The taint ``karpenter.sh/disrupted`` of Nodes that are about to go: commands and drains set it.

Core ``pkg/controllers/state/statenode.go`` (RequireNoScheduleTaint), ``pkg/controllers/node/termination/terminator/terminator.go`` (Taint).
"""

from collections.abc import Sequence

from harness.karpenter.labels.core import DISRUPTED_TAINT
from harness.kube.api.objects import Object, spec_of
from harness.kube.scheduling.taints import Taint, same_taint


def is_disrupted(node: Object) -> bool:
    """Whether the Node has the taint."""
    return bool([each for each in _taints_of(node) if same_taint(each, DISRUPTED_TAINT)])


def with_disrupted(node: Object) -> list[Taint]:
    """The Node's taints with this one, which takes the place of others with its key; as they are where it is there already."""
    taints = list(_taints_of(node))
    if is_disrupted(node):
        return taints
    return [*(each for each in taints if each.get("key") != DISRUPTED_TAINT["key"]), dict(DISRUPTED_TAINT)]


def without_disrupted(node: Object) -> list[Taint]:
    """The Node's taints without this one."""
    return [each for each in _taints_of(node) if not same_taint(each, DISRUPTED_TAINT)]


def _taints_of(node: Object) -> Sequence[Taint]:
    found: Sequence[Taint] = spec_of(node).get("taints") or ()
    return found
