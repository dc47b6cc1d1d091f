"""A case on a cluster where somebody else's Karpenter runs: applied there, with our Azure and our kubelets, until its expectations hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.clusters.waiting import Patience, TimedOut, stopwatch
from harness.engine.ports import ADMIN
from harness.kube.api.objects import name_of, namespace_of
from harness.kube.api.status import ignoring
from harness.scenario.comparing.inputs import real_inputs
from harness.scenario.comparing.outside import outside_verdicts
from harness.scenario.running.runner import expected_outcome, unexpected, walk
from harness.scenario.running.shared import Shared
from harness.scenario.running.verdicts import CaseReport

if TYPE_CHECKING:
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.scenario.language.cases import Case
    from harness.scenario.running.run import Run
    from harness.world.real.world import RealWorld

__all__ = ["AttachedRun", "unfit"]

_LATE = 25.0
"""Seconds in which a world that looks at rest may still come to what is expected."""
_GOING = 60.0
"""Seconds in which Karpenter may take away what a case made."""

_GOES = ("NodeClaim", "Node")


def unfit(case: Case) -> str:
    """Why a case cannot run on an attached cluster; empty when it can."""
    if case.header.skip is not None:
        return case.header.skip
    if case.needs_virtual_time:
        return "it needs virtual time"
    if "simulated-kubelets" in case.needs:
        return "it needs simulated kubelets"
    if any(entry.expectation.labels is not None or entry.expectation.requirements is not None for entry in case.then):
        return "it asks what is computed, about which a cluster says nothing"
    if case.seeds is not None:
        return "it is about several seeds, which do not bind a real Karpenter"
    return ""


class AttachedRun:
    """Runs cases one after the other on `cluster`.

    `started` is told the variables that a controller needs, once Azure answers. `ports` are Azure's, plain and with TLS; `wait` is how many
    seconds of an idle machine a controller may take until it asks something. Without `tidy` what a case made stays.
    """

    def __init__(
        self,
        cluster: ForeignCluster,
        authority: Path,
        *,
        started: Callable[[RealWorld], None],
        ports: tuple[int, int] = (0, 0),
        controller: Path | None = None,
        release: str | None = None,
        wait: float = 300.0,
        tidy: bool = True,
    ) -> None:
        self._cluster = cluster
        self._authority = authority
        self._started = started
        self._ports = ports
        self._controller = controller
        self._overrides: Mapping[str, Any] = {
            "kubernetes": cluster.kubernetes,
            **({"karpenter": release} if release is not None else {}),
        }
        self._wait = wait
        self._tidy = tidy

    def run(self, case: Case) -> CaseReport:
        """One case. Raises ScenarioError for bad input, TimedOut when no controller comes, OSError for a port that is taken."""
        from harness.clusters.remote.foreign import attach_foreign
        from harness.world.real.world import RealWorld

        watch = stopwatch()
        shared = Shared(None, self._overrides)
        inputs = {**real_inputs(case, shared, self._overrides), "cluster": attach_foreign(self._cluster)}
        with RealWorld(self._controller, self._authority, ports=self._ports, **inputs) as world:
            before = {(kind, name_of(each)) for kind in _GOES for each in world.list(kind)}
            self._started(world)
            self._await_controller(world)
            try:
                run = walk(case, world, shared)
                verdicts = (*unexpected(run), *self._judged(run, world))
            finally:
                if self._tidy:
                    self._clear(world, before)
        outcome, reason = expected_outcome(case, verdicts)
        tags = tuple(case.header.tags)
        return CaseReport(case.name, case.file, case.mark, outcome, verdicts, reason, seconds=watch(), tags=tags)

    def _await_controller(self, world: RealWorld) -> None:
        """Waits until a controller makes its first call of Azure."""
        patience = Patience(self._wait)
        while not world.cloud.journal.last:
            if patience.passed:
                raise TimedOut(f"no controller has asked Azure anything in {patience.waited}")
            world.advance(0.2)

    @staticmethod
    def _judged(run: Run, world: RealWorld) -> tuple[Any, ...]:
        patience = Patience(_LATE)
        while True:
            verdicts = tuple(outside_verdicts(run))
            if all(each.holds for each in verdicts) or patience.passed:
                return verdicts
            world.advance(1.0)

    @staticmethod
    def _clear(world: RealWorld, before: set[tuple[str, str]]) -> None:
        """Deletes what was applied, lets Karpenter take its machines away, and removes what is still there after a while."""
        for obj in reversed(world.applied):
            with ignoring(404):
                world.delete(obj["kind"], name_of(obj), namespace_of(obj))
        patience = Patience(_GOING)

        def left() -> list[tuple[str, str]]:
            there = [(kind, name_of(each)) for kind in _GOES for each in world.list(kind)]
            return [each for each in there if each not in before]

        while left() and not patience.passed:
            world.advance(0.5)
        admin = world.cluster.writer(ADMIN)
        for kind, name in left():
            with ignoring(404, 409), suppress(TimedOut):
                admin.patch(kind, name, {"metadata": {"finalizers": None}})
                admin.delete(kind, name)
