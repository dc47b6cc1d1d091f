"""A world in real time: our cloud and our cluster behind sockets, and the real controller between them.

One lock guards cloud, cluster and engine. A request to one of the two servers holds it for its own duration, in the order of requests.
The owner, the thread that made the world, holds the lock while it reads or changes the world, so that nothing moves meanwhile, and
releases it while it waits. While requests wait for the lock the owner runs the engine's steps, and between two steps it lets them go first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from types import TracebackType
from typing import Any

from fakeazure.timing import Timing as CloudTiming
from fakeazure.transports.pki import make_pki
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front, Reply
from harness.clusters.cluster import Boot
from harness.clusters.control_plane.cluster import RealCluster
from harness.clusters.folders import own_folder
from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.remote.foreign import ForeignCluster
from harness.clusters.remote.live import LiveRemoteCluster
from harness.clusters.waiting import Deadline, Patience, crowding, stopwatch
from harness.engine.engine import Settled
from harness.engine.ports import Change
from harness.nodes.boot import BootPlan
from harness.nodes.node_leases import NodeLeases
from harness.nodes.timing import Timing
from harness.world.real.api import Api, RemoteApi, ServedApi
from harness.world.real.controller_log import LoggedDecisions, log_line
from harness.world.real.environment import Endpoints, controller_environment, write_cloud
from harness.world.real.fair_lock import FairLock
from harness.world.real.forwarder import Forwarder
from harness.world.real.outstanding import outstanding_work
from harness.world.real.process import Controller, NoController
from harness.world.real.refused_claims import RefusedClaims
from harness.world.real.wall import Wall, wall_clock
from harness.world.world import World

__all__ = ["CLOUD_TIMING", "TIMING", "RealWorld"]

TIMING = Timing(boot=1.0, ready=0.5, device_plugin=0.5, pod_start=0.2, pod_stop=0.2, silence=3.0)
"""Durations of machines where somebody waits for them."""

CLOUD_TIMING = CloudTiming(vm_create=1.0, vm_delete=1.0, vm_power=0.5, extension=0.5)
"""Durations of Azure there."""

_LOOK_EVERY, _LOOK_SELDOM = 0.05, 0.5
_CALM = 1.5
"""Seconds without a write after which a world in the expected state is at rest: longer than a batch of pods waits."""
_QUIET = 2.0
"""Seconds without a write after which a world without outstanding work is at rest."""
_STUCK = 8.0
"""Seconds without a write after which outstanding work does not come any more: Karpenter waits for something itself."""
_CROWDED = 3.0  # the factor of all durations on a busy machine
_PATIENCE = 60.0
"""The longest time of `settle` in seconds."""


class RealWorld(World):
    """A World whose Karpenter is a process. `binary` is the controller of the release; other inputs are World's.

    Without `binary` another process starts it, with the variables `environment`, on an attached cluster.
    Raises PkiError, ControllerDied, OSError for a port that is taken. Close it: it is a context manager. `authority` is a folder for
    certificates, which worlds may share; `ports` are those of Azure, plain and with TLS, 0 for any free one.
    """

    def __init__(
        self,
        binary: Path | None,
        authority: Path,
        *,
        elects: bool = False,
        ports: tuple[int, int] = (0, 0),
        pulse: Callable[[], None] = lambda: None,
        **inputs: Any,
    ) -> None:
        """`pulse` is called whenever the world waits; an exception of it ends the wait."""
        self._pulse = pulse
        inputs = {"timing": TIMING, "cloud_timing": CLOUD_TIMING, **inputs}
        super().__init__(**inputs, simulated=False, clock=wall_clock())
        self.azure.prices.toss()
        self.lock = FairLock()
        self._moved = threading.Condition(self.lock)  # type: ignore[arg-type]  # any reentrant lock will do
        self._wall = Wall(self.engine)
        self._behind = False
        self._open = ExitStack()
        self.satisfied: Callable[[], bool] = lambda: False
        """Whether the world is in the expected state: then it does not wait for outstanding work."""
        self._last_moment: float | None = None
        self.writes_to_objects = 0
        """The number of writes of objects, but for the Leases that leaders renew."""
        self.joining = 0
        """The number of node containers that are coming up."""
        self._decisions = LoggedDecisions(
            self.view, lambda size, kind: self.price(size, kind).usd, self.recorder.disruptions
        )
        self._refused_claims = RefusedClaims(self.cluster, self.recorder)
        self.cluster.view.subscribe(self._count)  # type: ignore[attr-defined]
        self.lock.acquire()
        self._open.callback(self.lock.release)
        try:
            self._serve_azure(authority, ports)
            self.controller = self._prepare(binary, elects)
            self._start_controller()
        except BaseException:
            self._open.close()
            raise

    def _serve_azure(self, authority: Path, ports: tuple[int, int]) -> None:
        self._pki = make_pki(authority)
        front = self.front = AzureFront(self)
        for port, context in zip(ports, (None, self._pki.server_context()), strict=True):
            server = self._open.enter_context(HttpServer(front, port=port, context=context))
            if context is None:
                self.azure_url = server.url
            else:
                self._secure_url = server.url
                self._proxy = self._open.enter_context(Forwarder(server.port)).url

    def _prepare(self, binary: Path | None, elects: bool) -> Controller | NoController:
        self._api: Api = self._reach_api()
        self._open.callback(self._api.stop)
        folder = own_folder("controller")
        endpoints = Endpoints(
            self.azure_url,
            self._secure_url,
            self._pki.ca,
            folder / "cloud.json",
            folder / "kubeconfig.json",
            api_host=self._api.host,
            api_port=self._api.port,
            metrics_port=0,  # any free one
            health_port=0,
            secret=self.front.guard.secret,
            proxy=self._proxy,
        )
        write_cloud(endpoints.cloud, self._secure_url)
        endpoints.kubeconfig.write_text(json.dumps(self._api.kubeconfig()), encoding="utf-8")
        self.environment = controller_environment(
            self.release.version, self.options, self.region, endpoints, elects=elects
        )
        if binary is None:
            self._open.callback(rmtree, folder, ignore_errors=True)
            return NoController()
        controller = Controller(binary, self.environment, folder, token=self._api.token, ca=self._api.ca)
        self._open.callback(controller.stop)
        return controller

    def _reach_api(self) -> Api:
        if isinstance(self.cluster, MemoryCluster):
            return ServedApi(self, self.cluster, self._pki)
        assert isinstance(self.cluster, LiveRemoteCluster), "attach(..., live=True)"
        if isinstance(self.cluster.remote, ForeignCluster):
            # its kube-controller-manager gives up Nodes that fall silent
            self.engine.add_controllers(NodeLeases(self.engine, self.cluster.view, self.cluster.writer, self.machines))
        if self.cluster.boot is not None:
            self.kubelets.boot_with(self._unlocked(self.cluster.boot))
        assert isinstance(self.cluster.remote, RealCluster | ForeignCluster)
        return RemoteApi(self.cluster.remote)

    def _unlocked(self, boot: Boot) -> Boot:
        """Return the same function on a thread of its own, so that others may call Azure: a node container takes seconds to come up."""

        def join(plan: BootPlan) -> None:
            self.joining += 1
            try:
                with ThreadPoolExecutor(1) as threads:
                    done = threads.submit(boot, plan)
                    while not done.done():
                        self._moved.wait(_LOOK_EVERY)
                    done.result()
            finally:
                self.joining -= 1

        return join

    def close(self) -> None:
        """End the process and the servers."""
        self._open.close()

    def __enter__(self) -> RealWorld:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The methods of World that run in virtual time there.

    def end_after(self, seconds: float) -> None:
        """Let `settle` and `advance` return so many seconds from now, whatever they wait for."""
        self._last_moment = self.clock.seconds + seconds

    @property
    def over(self) -> bool:
        """Return whether the time of `end_after` has passed."""
        return self._last_moment is not None and self.clock.seconds >= self._last_moment

    def settle(self, *, allow_rejections: bool = False) -> Settled:
        """Wait until the world is at rest, at most for a bound of real time. Raises ObjectsRefused, ControllerDied."""
        patience, began, first = Patience(_PATIENCE), self.clock.seconds, self.engine.steps
        exhausted: str | None = None
        quiet = _Quiet(self)
        while not quiet.over(_STUCK) and not self._rests(quiet):
            if patience.passed or self.over:
                moving = ", ".join([*outstanding_work(self), *self.engine.waiting()][:5])
                exhausted = f"still moving after {patience.waited}: {moving}"
                break
            self._wait(_LOOK_EVERY if not quiet.over(_CALM) else _LOOK_SELDOM)
            quiet.look()
        self.refusals(allow=allow_rejections)
        return Settled(self.engine.steps - first, self.clock.seconds - began, None, exhausted)

    def _rests(self, quiet: _Quiet) -> bool:
        """Return whether nothing is outstanding, or the expected state is reached."""
        done = quiet.over(_QUIET) and not any(outstanding_work(self))
        return done or (quiet.over(_CALM) and self.satisfied())

    def advance(self, seconds: float) -> Settled:
        """Wait that long."""
        end, first = self.clock.seconds + seconds, self.engine.steps
        while self.clock.seconds < end and not self.over:
            self._wait(min(_LOOK_EVERY, max(0.001, end - self.clock.seconds)))
        return Settled(self.engine.steps - first, seconds, None, None)

    def change_timing(self, **seconds: float) -> None:
        """Change the durations of machines. A real Karpenter's durations are its own and stay."""
        of_machines = {name: value for name, value in seconds.items() if hasattr(self.kubelets.timing, name)}
        self.kubelets.timing = replace(self.kubelets.timing, **of_machines)

    def restart_karpenter(self) -> None:
        """Kill the process and start it again."""
        self.controller.kill()
        self._start_controller()

    def restart_api_server(self) -> None:
        """End the API server with all its connections, and start it again at the same place; stored objects stay.

        Raises LookupError where it is not ours.
        """
        self._api.restart()

    def _count(self, change: Change) -> None:
        self.writes_to_objects += change.object["kind"] != "Lease"

    def _start_controller(self) -> None:
        self.controller.start()
        self.controller.wait_until_up(self._pause, reads_prices=self.cloud.market.prices.served)

    def catch_up(self) -> None:
        """Do due work, for a request: as long as nobody waits for the lock; the rest is for the thread that made the world."""
        self._wall.catch_up(self._is_alone)

    def _is_alone(self) -> bool:
        if self.lock.waiting == 0:
            return True
        self._behind = True
        self._moved.notify_all()
        return False

    def _pause(self) -> None:
        self._let_pass(_LOOK_EVERY)

    def _let_pass(self, seconds: float) -> None:
        """Let everybody else work for a moment, not longer than undone work can wait; then do the due work here."""
        self._pulse()
        if self._behind:
            self.lock.give_way()
        else:
            self._moved.wait(seconds)
        self._behind, turn = False, Deadline(_LOOK_EVERY)

        def go_on() -> bool:
            self.lock.give_way()
            self._behind = turn.passed  # then the clock moves on first, which stands still meanwhile
            return not self._behind

        self._wall.catch_up(go_on)

    def _wait(self, seconds: float) -> None:
        """Let everybody else work for a moment, do the due work here, and read the controller's log."""
        self._let_pass(seconds)
        for line in self.controller.lines():
            logged = log_line(self.clock.seconds, line)
            self.recorder.lines.append(logged)
            self._decisions.read(logged)
        self._refused_claims.look()
        self.controller.check()


class _Quiet:
    """The time since the last write, to the cluster or to Azure."""

    def __init__(self, world: RealWorld) -> None:
        self._world = world
        self._calls = self._azure_writes = 0
        self._seen = self._state()
        self._since = world.clock.seconds

    def look(self) -> None:
        """Note the writes since the last call."""
        state = self._state()
        if state != self._seen:
            self._seen, self._since = state, self._world.clock.seconds

    def over(self, seconds: float) -> bool:
        """Return whether it has been quiet for that long, on a machine with little other work, and none of our work is on its way."""
        quiet = self._world.clock.seconds - self._since
        return quiet >= seconds * min(crowding(), _CROWDED) and not (
            self._world.engine.progressing or self._world.joining
        )

    def _state(self) -> tuple[int, int]:
        journal = self._world.cloud.journal
        self._azure_writes += sum(call.method not in ("GET", "POST") for call in journal.since(self._calls))
        self._calls = journal.last
        return self._world.writes_to_objects, self._azure_writes


class AzureFront(Front):
    """Azure behind the world's lock, at the moment that the wall clock shows."""

    def __init__(self, world: RealWorld) -> None:
        super().__init__(world.cloud)
        self.lock = world.lock
        self._world = world
        self.slowest = 0.0
        """Real seconds of the slowest answer, with the wait for its turn."""

    def handle(
        self, method: str, url: str, headers: Mapping[str, str], raw: bytes, *, origin: str, here: str = ""
    ) -> Reply:
        """Answer one request, and do the work that follows from it."""
        watch = stopwatch()
        with self.lock:  # once: each time is a turn to wait for
            self._world.catch_up()
            reply = super().handle(method, url, headers, raw, origin=origin, here=here)
            self._world.catch_up()
            self.slowest = max(self.slowest, watch())
        return reply
