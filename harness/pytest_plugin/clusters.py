"""Scenarios on real clusters: `--cluster` names them, the process that runs pytest owns them, every worker has a lease of its own.

With several clusters each case runs on all of them, and the first difference of the outcomes fails the case, unless chance
may go that way: then memory comes to the same under another seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.cluster_pool import ClusterPool
from harness.pytest_plugin.options import cluster_names
from harness.pytest_plugin.session import runner_of, tracing_of
from harness.scenario.comparing.draws import MOST_DRAWS
from harness.wording import duration_text

if TYPE_CHECKING:
    from harness.clusters.remote.attaching import Attaching
    from harness.scenario.expectations.verdicts import Verdict
    from harness.scenario.language.cases import Case
    from harness.scenario.running.run import Judged, Run
    from harness.scenario.running.runner import Runner

__all__ = [
    "ClusterRunners",
    "by_definitions",
    "configure_worker",
    "first_difference",
    "release_worker",
    "report_home",
    "runners_of",
    "summary",
]

Difference = tuple[str, Any, Any]
"""A place in two outcomes, and what each has there."""

_RUNNERS: pytest.StashKey[ClusterRunners] = pytest.StashKey()
_INPUT = "harness_clusters"
_OUTPUT = "harness_clusters_used"


def configure_worker(node: Any) -> None:
    """Start clusters for an xdist worker, in the process that starts it, and hand them over as data."""
    node.workerinput[_INPUT] = runners_of(node.config).start_for_worker(node.gateway.id)


def release_worker(node: Any) -> None:
    """Release the clusters of an xdist worker, which has ended, well or not, in the process that started it."""
    used = getattr(node, "workeroutput", {}).get(_OUTPUT, ())
    runners_of(node.config).release(node.gateway.id, used)


def report_home(config: pytest.Config) -> None:
    """Report the use of clusters, in a worker, for `release_worker`."""
    config.workeroutput[_OUTPUT] = runners_of(config).used()  # type: ignore[attr-defined]


def summary(config: pytest.Config) -> list[str]:
    """Return one line for each cluster that this process started."""
    return runners_of(config).summary() if _RUNNERS in config.stash else []


def by_definitions(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put cases with the same CRDs one after the other: real clusters take seconds to replace them."""
    shared = runner_of(config).shared

    def definitions(item: pytest.Item) -> str:
        case = getattr(item, "case", None)
        return "" if case is None else case.given.crds or shared.idle_world(case).release.crds

    items.sort(key=definitions)


def runners_of(config: pytest.Config) -> ClusterRunners:
    """Return the session's clusters, each started at its first use."""
    if _RUNNERS not in config.stash:
        config.stash[_RUNNERS] = ClusterRunners(config)
        config.add_cleanup(config.stash[_RUNNERS].stop)
    return config.stash[_RUNNERS]


class ClusterRunners(ClusterPool):
    """A Runner for each cluster of `--cluster`."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config, cluster_names(config), getattr(config, "workerinput", {}).get(_INPUT, {}))
        self.only_memory = self.names == ("memory",)
        self._runners: dict[str, Runner] = {}
        self._lost: dict[str, str] = {}
        self._rehearsal = MemoryRehearsal(lambda: self._new_runner("memory"))
        self._attaching: dict[str, Attaching] = {}

    def examine(self, case: Case) -> tuple[Verdict, ...]:
        """Return the verdicts of a case on every cluster, and whether the outcomes agree. Skips cases that a cluster cannot show."""
        import dataclasses

        unsupported = self._unsupported(case)
        if unsupported:
            pytest.skip(unsupported)
        case = self._rehearsal.of_one_seed(case)
        verdicts: list[Verdict] = []
        first: tuple[str, dict[str, Any]] | None = None
        for name in self.names:
            runner = self._runner(name)
            self._choose_machines(name, case)
            came = self._run(name, runner, case)
            if len(self.names) == 1:
                return came.verdicts
            verdicts += [dataclasses.replace(verdict, label=f"{name}: {verdict.label}") for verdict in came.verdicts]
            outcome = self._outcome(came.run)
            if first is None:
                first = name, outcome
                continue
            draws = self._draws(case) if first[0] == "memory" and not came.run.runaways else ()
            seed, difference = first_difference(first[1], outcome, draws)
            label = f"{name} comes to the same as {first[0]}" + (f" under seed {seed}" if seed else "")
            verdicts.append(_agreement(case, label, (first[0], name), difference, came.run.world.clock.seconds))
        return tuple(verdicts)

    def _outcome(self, run: Run) -> dict[str, Any]:
        """Return what is compared between clusters. The end of a runaway depends on the order of events in the same moment."""
        from harness.world.snapshot import snapshot

        # a node container has the host's capacity
        return {"runaway": True} if run.runaways else snapshot(run.world, capacity="kind" not in self.names)

    def _draws(self, case: Case) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the outcomes in memory under other seeds: a real API server draws uids and names without one."""
        return ((seed, self._outcome(run)) for seed, run in self._rehearsal.drawn(case))

    def live(self) -> tuple[Attaching, str]:
        """Return the cluster for worlds in real time, one after the other, and its version of Kubernetes. Skips where there is none."""
        from harness.clusters.remote.attaching import attach

        self._reach()
        name = self.names[0]
        self._attaching[name] = attach(self._remotes[name], live=True)
        return self._attaching[name], self._version

    def prepare(self, case: Case) -> None:
        """Choose the machines of a case on the cluster of `live`. Skips a case that the cluster cannot show."""
        self._reach()
        if unsupported := self._needed(case) or self._about_another_version(case):
            pytest.skip(unsupported)
        self._choose_machines(self.names[0], case)

    def _run(self, name: str, runner: Runner, case: Case) -> Judged:
        """Run a case on one cluster. Raises ClusterLost: at length for the first case that lost it, in one line for later ones."""
        try:
            came = runner.judge_once(case)
        except RuntimeError as error:
            from harness.clusters.client.connection import ClusterLost

            if not isinstance(error, ClusterLost):
                raise
            here = f"{case.file}::{case.name}"
            first = self._lost.setdefault(name, here)
            if first == here:
                raise
            reason = str(error).partition("\n")[0]
            raise ClusterLost(f"{reason}; cluster {name} is lost since {first}, which tells what died") from None
        self._lost.pop(name, None)
        return came

    def explains(self, error: BaseException) -> bool:
        """Return whether an error itself names the part of a cluster that died or does not come to rest, so that no traceback is shown."""
        if self.only_memory:
            return False
        from harness.clusters.errors import ClusterFailed

        return isinstance(error, ClusterFailed)

    def _unsupported(self, case: Case) -> str:
        if needed := self._needed(case):
            return needed
        for name in self.names:
            self._runner(name)
        return self._about_another_version(case)

    def _needed(self, case: Case) -> str:
        real = [name for name in self.names if name not in ("memory", "http")]
        needs = [
            need
            for need in case.needs
            if ("kind" in self.names if need == "simulated-kubelets" else real)
            or (need == "memory" and self.names != ("memory",))
        ]
        if needs:
            return f"needs {', '.join(needs)}, which {', '.join(real or self.names)} does not have"
        return ""

    def _about_another_version(self, case: Case) -> str:
        from harness.kube.api.versions import Version

        wanted = runner_of(self._config).shared.idle_world(case).kubernetes
        if not self._version or Version.parse(wanted).line == Version.parse(self._version).line:
            return ""
        if self._rehearsal.holds(case):
            return ""
        return f"is about Kubernetes {wanted}; on {self._version}, which the cluster is, something else comes of it in memory, too"

    def _runner(self, name: str) -> Runner:
        if name not in self._runners:
            self._reach()
            self._runners[name] = self._new_runner(name)
        return self._runners[name]

    def _choose_machines(self, name: str, case: Case) -> None:
        """Make Nodes objects of the size of their machines where pods may ask one Node for more than this host has."""
        room = self._remotes[name].room() if name == "kind" else None
        if room is None:
            return
        from harness.kube.api.resources import fits
        from harness.scenario.language.demand import demand

        real = fits(demand(case), room)
        self._attaching[name].machines = real
        self.too_big += not real

    def _new_runner(self, name: str) -> Runner:
        from harness.scenario.running.runner import Runner

        overrides: dict[str, Any] = {"crds": runner_of(self._config).shared.overrides.get("crds")}
        if name != "memory":
            from harness.clusters.remote.attaching import attach

            overrides["cluster"] = self._attaching[name] = attach(self._remotes[name])
        if self._version:
            overrides["kubernetes"] = self._version
        made = Runner(caches=runner_of(self._config).shared.caches, **overrides)
        made.tracing = tracing_of(self._config, name if len(self.names) > 1 else "")
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def first_difference(
    expected: Mapping[str, Any], outcome: Mapping[str, Any], draws: Iterable[tuple[int, Mapping[str, Any]]]
) -> tuple[int, Difference | None]:
    """Return the first place where an outcome differs from the expected one; instead the seed of the draw that it equals.

    `draws` are seeds with the outcomes as chance may go otherwise; they are made only where there is a difference. The
    seed is 0 where there is none, or no draw equals the outcome.
    """
    from harness.world.snapshot import differences

    difference = next(differences(expected, outcome), None)
    if difference is None:
        return 0, None
    seed = next((number for number, draw in draws if not any(differences(draw, outcome))), 0)
    return seed, None if seed else difference


def _agreement(
    case: Case, label: str, names: tuple[str, str], difference: Difference | None, seconds: float
) -> Verdict:
    from harness.scenario.expectations.verdicts import Verdict

    if difference is None:
        return Verdict.compared(label, case.mark, ())
    place, left, right = difference
    where = f"{place} at {duration_text(seconds)}"
    return Verdict.failed(label, case.mark, f"{where}: {left} ({names[0]})", f"{right} ({names[1]})")


class MemoryRehearsal:
    """Runs a case in memory before it runs on clusters, on their Kubernetes. Its Runner is made at its first use."""

    def __init__(self, new_runner: Callable[[], Runner]) -> None:
        self._new_runner = new_runner
        self._made: Runner | None = None

    @property
    def _runner(self) -> Runner:
        if self._made is None:
            self._made = self._new_runner()
        return self._made

    def holds(self, case: Case) -> bool:
        """Return whether the expectations of the case hold for the clusters' version, too."""
        from harness.reading.problems import ScenarioError
        from harness.scenario.expectations.verdicts import Outcome

        try:
            came = self._runner.run(case).outcome
        except ScenarioError:  # a step finds nothing to act on
            return False
        return came not in (Outcome.FAILED, Outcome.ERROR, Outcome.UNEXPECTED_PASS)

    def of_one_seed(self, case: Case) -> Case:
        """Return the case under a seed for which it holds, where it is meant to hold for some only; else the case."""
        if case.seeds is None or case.seeds.hold != "some":
            return case
        seeded = map(case.seeded, range(case.seeds.count))
        return next(
            (candidate for candidate in seeded if all(verdict.holds for verdict in self._runner.examine(candidate)[1])),
            case,
        )

    def drawn(self, case: Case) -> Iterator[tuple[int, Run]]:
        """Yield the case's runs under other seeds, each with what is added to its own; a seed under which a step finds
        nothing to act on is left out.
        """
        from harness.reading.problems import ScenarioError

        for number in range(1, MOST_DRAWS + 1):
            with suppress(ScenarioError):
                yield number, self._runner.examine(case.seeded(number))[0]
