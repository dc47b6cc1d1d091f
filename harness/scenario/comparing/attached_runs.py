"""A case on a cluster where somebody else's Karpenter runs: applied there, with our Azure and our kubelets, until its expectations hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.clusters.errors import ClusterFailed
from harness.clusters.waiting import Interrupted, Patience, TimedOut, sleep, stopwatch
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Object
from harness.scenario.comparing.inputs import ENDPOINT, real_inputs
from harness.scenario.comparing.outside import outside_verdicts
from harness.scenario.expectations.verdicts import CaseReport, Verdict
from harness.scenario.language.models.steps import StepMap
from harness.scenario.running.applied import applied_manifests
from harness.scenario.running.runner import expected_outcome, unexpected, walk
from harness.scenario.running.shared import Shared

if TYPE_CHECKING:
    from harness.clusters.remote.belongings import Leftover
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.scenario.language.cases import Case
    from harness.scenario.running.run import Run
    from harness.world.real.world import RealWorld

__all__ = ["AttachedRun", "planned_objects", "unfit", "weightiest_first"]

_LATE = 25.0
"""Seconds in which a world that seems to rest may still reach the expected state."""
_GOING = 60.0
"""Seconds in which Karpenter may remove the objects of a case."""
_IDLE = 5.0
"""Seconds after which a run without a controller waits no longer."""
_LOOK_EVERY = 0.5
_MESSAGES = re.compile(r"\.(events|log)\b")
"""Expectations about messages, by their label (`then[0].events`)."""


def unfit(case: Case) -> str:
    """Return why a case cannot run on an attached cluster; empty when it can."""
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


def planned_objects(case: Case) -> list[Object]:
    """Return the objects that a case creates, at once and in its steps. Raises ScenarioError for a file that cannot be read."""
    steps = (step for step in case.header.when if isinstance(step, StepMap))
    later = (manifest for step in steps for name in step.apply or () for manifest in applied_manifests(case, name))
    return [dict(manifest.object) for manifest in (*case.manifests, *later) if manifest.object.get("kind") in KINDS]


def _let_pass(world: RealWorld) -> None:
    """Let a moment pass, in which machines and controller go on, as far as they live."""
    try:
        world.advance(_LOOK_EVERY)
    except ClusterFailed:
        sleep(_LOOK_EVERY)


def weightiest_first(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts in their order, those that fail about Events and log lines last: objects decide, messages follow."""
    return tuple(sorted(verdicts, key=lambda verdict: not verdict.holds and bool(_MESSAGES.search(verdict.label))))


class AttachedRun:
    """Runs cases one after the other on `cluster`.

    `started` is called with the world of a case, once Azure answers. `pulse` is called during each wait, and ends the run by raising.
    `ports` are Azure's, plain and with TLS; `wait` is the time in seconds of an idle machine until the first request of a controller.
    Without `tidy` the objects of a case stay. `left` are the leftovers of the last case; None where the cluster did not answer.
    """

    def __init__(
        self,
        cluster: ForeignCluster,
        authority: Path,
        *,
        started: Callable[[RealWorld], None] = lambda world: None,
        pulse: Callable[[], None] = lambda: None,
        ports: tuple[int, int] = (0, 0),
        controller: Path | None = None,
        release: str | None = None,
        wait: float = 300.0,
        tidy: bool = True,
    ) -> None:
        self.left: Sequence[Leftover] | None = ()
        self._cluster = cluster
        self._authority = authority
        self._started = started
        self._pulse = pulse
        self._ports = ports
        self._controller = controller
        self._overrides: Mapping[str, Any] = {
            "kubernetes": cluster.kubernetes,
            **({"karpenter": release} if release is not None else {}),
        }
        self._wait = wait
        self._tidy = tidy

    def run(self, case: Case) -> CaseReport:
        """Run one case. Raises ScenarioError for bad input, TimedOut when no controller comes, OSError for a port that is taken."""
        watch = stopwatch()
        shared = Shared(None, self._overrides)
        inputs = real_inputs(case, shared, self._overrides)

        def judge(world: RealWorld) -> tuple[Any, ...]:
            self._started(world)
            self._await_controller(world)
            run = walk(case, world, shared)
            return (*unexpected(run), *self._judged(run, world))

        verdicts = self._within(inputs, judge)
        verdicts = weightiest_first(verdicts)
        outcome, reason = expected_outcome(case, verdicts)
        tags = tuple(case.header.tags)
        return CaseReport(case.name, case.file, case.mark, outcome, verdicts, reason, seconds=watch(), tags=tags)

    def clean(self) -> None:
        """Remove the objects of the run; with a controller, which finds an Azure without machines and so lets its objects go."""
        if self._controller is None:
            self._remove(self._rest, idle=_IDLE)
            return
        options = {"cluster_endpoint": ENDPOINT}
        self._within({**self._overrides, "options": options}, lambda world: ())

    def _within(self, inputs: Mapping[str, Any], act: Callable[[RealWorld], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return the result of `act` in a new world on the cluster, and remove the objects of the run while the world lives, whatever
        happens."""
        from harness.clusters.remote.foreign import attach_foreign
        from harness.world.real.world import RealWorld

        world: RealWorld | None = None
        factory = attach_foreign(self._cluster)
        try:
            with RealWorld(
                self._controller, self._authority, ports=self._ports, pulse=self._pulse, cluster=factory, **inputs
            ) as world:
                try:
                    return act(world)
                finally:
                    if self._tidy:
                        self._remove(partial(_let_pass, world))
        finally:
            if world is None and self._tidy:  # the world was not made, and may have made its service account
                self._remove(self._rest, idle=_IDLE)
            elif not self._tidy:
                self.left = self._cluster.belongings.left()

    def _remove(self, pause: Callable[[], None], *, idle: float | None = None) -> None:
        """Remove the objects of the run. An interruption is raised at the end."""
        self.left = None
        remove = partial(self._cluster.belongings.remove, pause, seconds=_GOING, idle=idle)
        try:
            self.left = remove()
        except Interrupted:
            self.left = remove()
            raise

    def _rest(self) -> None:
        self._pulse()
        sleep(_LOOK_EVERY)

    def _await_controller(self, world: RealWorld) -> None:
        """Wait until a controller makes its first call of Azure."""
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
            if all(verdict.holds for verdict in verdicts) or patience.passed:
                return verdicts
            world.advance(1.0)
