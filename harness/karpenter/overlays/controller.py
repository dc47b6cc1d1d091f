"""The controller of NodeOverlays: evaluates them, and writes on each whether it applies.

Core ``pkg/controllers/nodeoverlay/controller.go``, ``pkg/cloudprovider/overlay/cloudprovider.go``. Runs behind the gate NodeOverlay.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from harness.engine.access import Access
from harness.engine.engine import Result, Router, Wait, back_off
from harness.engine.ports import Change, ChangeType
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.lifecycle.conditions import Conditions
from harness.karpenter.overlays.applied import AppliedOverlays
from harness.karpenter.overlays.evaluation import Verdict, evaluate
from harness.karpenter.releases import ProviderRelease
from harness.kube.api.objects import Object, metadata_of, name_of, status_of
from harness.kube.api.patch import merge_diff
from harness.kube.go.text import quote

__all__ = ["GATE", "NodeOverlays", "with_verdict"]

GATE = "NodeOverlay"
VALIDATION_SUCCEEDED = "ValidationSucceeded"

_AGAIN = 6 * 3600.0
_KEY = "overlays"

Types = Callable[[Object], Sequence[InstanceType]]
"""The provider's instance types for a NodePool. Raises LookupError where it has none."""


def with_verdict(overlay: Object, verdict: Verdict, now: str) -> Conditions:
    """The conditions of a NodeOverlay after an evaluation; ``now`` is RFC 3339."""
    conditions = Conditions(overlay, (VALIDATION_SUCCEEDED,), now)
    if verdict.reason:
        conditions.set_false(VALIDATION_SUCCEEDED, verdict.reason, verdict.message)
    else:
        conditions.set_true(VALIDATION_SUCCEEDED)
    return conditions


class NodeOverlays:
    """Evaluates all overlays together, under one key, when one of them, a NodePool or an AKSNodeClass changes, and every six hours.

    The evaluation is kept in ``applied``; ``evaluated`` is called when it may have changed.
    """

    name = "nodeoverlay"
    backoff = (0.1, 60.0)

    def __init__(
        self,
        access: Access,
        release: ProviderRelease,
        types: Types,
        applied: AppliedOverlays,
        evaluated: Callable[[], None],
    ) -> None:
        self._view, self._writer, self._sink, self._clock = access.view, access.writer, access.sink, access.clock
        self._release, self._types, self._applied, self._evaluated = release, types, applied, evaluated
        self._failures = 0

    def watches(self) -> Mapping[str, Router]:
        """NodeOverlays, NodePools and AKSNodeClasses."""
        return dict.fromkeys(("NodeOverlay", "NodePool", "AKSNodeClass"), self._route)

    def _route(self, change: Change) -> Iterable[Hashable]:
        before, after = change.old, change.object
        if change.type is ChangeType.DELETED or before is None:
            return (_KEY,)
        changed = metadata_of(before).get("generation") != metadata_of(after).get("generation")
        return (_KEY,) if changed else ()

    def reconcile(self, key: Hashable) -> Result:
        """Evaluates all overlays."""
        types: dict[str, Sequence[InstanceType]] = {}
        problems = []
        for pool in self._view.list("NodePool"):
            try:
                types[name_of(pool)] = self._types(pool)
            except LookupError as error:
                if not self._release.core.overlays_skip_broken_nodepools:
                    return self._failed(f"listing instance types, {error}")
                problems.append(f"listing instance types for nodepool {quote(name_of(pool))}, {error}")
        overlays = self._view.list("NodeOverlay")
        evaluation = evaluate(overlays, self._view.list("NodePool"), types, self._release)
        for overlay in overlays:
            self._tell(overlay, evaluation.verdicts[name_of(overlay)])
        self._applied.update(evaluation)
        self._evaluated()
        if problems:
            return self._failed("; ".join(problems))
        self._failures = 0
        return Result(_AGAIN, Wait.ALARM)

    def _failed(self, problem: str) -> Result:
        """Logs the error and retries with back-off, as an alarm: a world does not wait for it, since a change triggers the next
        evaluation."""
        self._sink.log("error", self.name, "Reconciler error", error=problem)
        after = back_off(self.backoff, self._failures)
        self._failures += 1
        return Result(after, Wait.ALARM)

    def _tell(self, overlay: Object, verdict: Verdict) -> None:
        conditions = with_verdict(overlay, verdict, self._clock.timestamp())
        patch = merge_diff(status_of(overlay), {**status_of(overlay), "conditions": conditions.items})
        if patch:
            self._writer.patch("NodeOverlay", name_of(overlay), {"status": patch}, subresource="status")
