"""FakeAzure: one world of Azure, in process, without sockets or JSON text.

```
clock = ManualClock()                      # or any callable or object that tells seconds since the epoch
azure = FakeAzure(region="eastus", clock=clock, azure={"quota": {"cores": 8}})
stop = azure.subscribe(print)              # PoweredOn, PoweredOff, Deleted, Preempting, CreationFailed, ExtensionInstalled
answer = azure.request("PUT", path, query={"api-version": "2025-04-01"}, body=body)     # .status .headers .body
```

**Time.** The cloud never waits and never moves the clock. What takes time is queued: `next_due()` tells when the next thing ends
(seconds since the epoch, None if nothing does), `run_until(moment)` makes everything happen that is due by then, in order, and
`on_schedule(hook)` tells each new due time to an owner with an event queue of its own. `request` first makes happen what is due
at the clock's time, so a world on a real clock needs no driver for its answers (only for events without a request). With the
default clock, `advance(seconds)` moves it and runs what falls due on the way.

**Events** arrive synchronously, in order, while `request` or `run_until` runs. `PoweredOn` alone says that a machine boots; it
carries custom data, tags, the AKS machine behind which the VM stands, and AKS's own labels.

**A VM PUT** answers 201 with `provisioningState: Creating` and an `Azure-AsyncOperation` header, as Azure does; with
`timing=INSTANT` everything is over in the answer, which then has no such header.

**The market** (`azure=`, see `fakeazure.market.spec`) lies over the shared catalogue: `market.quota`, `.restrictions`, `.stock`,
`.faults`, `.prices` can be changed while the world runs. `unfired()` lists declared faults that never fired.

Not safe for threads: transports take a lock around every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakeazure import dispatch
from fakeazure.arguments import Argument, check_arguments, optional
from fakeazure.arm.errors import ArmError
from fakeazure.arm.messages import EMPTY, Document, Request, Response
from fakeazure.beginning import SUBSCRIPTION, TENANT, Beginning, Inputs, beginning_of
from fakeazure.events import Subscriber
from fakeazure.exchange import Exchange
from fakeazure.expectations import Calls
from fakeazure.happenings import Happenings
from fakeazure.journal import Call, Journal, summarise
from fakeazure.routing import router
from fakeazure.state import State
from fakeazure.timers import ManualClock, MovableClock

if TYPE_CHECKING:
    from fakeazure.arm.throttling import Bucket
    from fakeazure.market.facts import CatalogueLike
    from fakeazure.timers import ClockLike
    from fakeazure.timing import Timing


_JOURNAL = optional(Argument("a Journal", lambda value: isinstance(value, Journal)))


class FakeAzure(Happenings):
    """One world: subscription, resource groups, network, cluster, market, time, and the journal of every call.

    - `region`: of the cluster, by its short or its display name.
    - `catalogue`: what Azure sells; what this package brings along by default.
    - `clock`: tells seconds since the epoch; a ManualClock by default.
    - `ids`: makes guids; repeatable under `seed_value` by default.
    - `azure`: the market (`fakeazure.market.spec`).
    - `timing`: how long operations take.
    - `subscription`, `tenant`: their guids. With `any_subscription` every subscription is known that somebody asks for.
    - `resource_group`, `cluster`: names. `node_resource_group` is `MC_GROUP_CLUSTER_REGION` by default.
    - `kubernetes`: the version of the cluster's control plane.
    - `machines_pool`: the agent pool of AKS machines.
    - `network`: replaces parts of the network profile: networkPlugin, networkPluginMode, networkDataplane, networkPolicy, dnsServiceIP.
    - `subnet_prefix`: of the cluster's own network, `vnet_guid` its guid.
    - `kubelet_client_id`: of the kubelets' own identity; made from its name by default.
    - `throttle`: ARM's limits on requests; none by default.
    - `retry_after`: seconds that polls are told to wait; without it the header is left out.
    - `page_size`: items per page of the long lists (SKUs, usages, prices); one page by default.
    - `sku_regions`: the regions whose SKUs a list without a filter has; that of the cluster by default.
    - `base_url`: where ARM is.
    - `journal`: keeps every call by default.

    Raises ValueError for arguments of a wrong form, all in one line, for an unknown region, or a mistake in `azure`.
    """

    def __init__(
        self,
        *,
        region: str = "eastus",
        catalogue: CatalogueLike | None = None,
        clock: ClockLike | None = None,
        ids: Callable[[], str] | None = None,
        seed_value: int = 0,
        azure: Mapping[str, Any] | None = None,
        timing: Timing | None = None,
        subscription: str = SUBSCRIPTION,
        any_subscription: bool = False,
        tenant: str = TENANT,
        resource_group: str = "rg",
        cluster: str = "c",
        node_resource_group: str | None = None,
        kubernetes: str = "1.34.2",
        machines_pool: str = "aksmanagedap",
        network: Mapping[str, str] | None = None,
        subnet_prefix: str = "10.224.0.0/16",
        kubelet_client_id: str = "",
        vnet_guid: str = "",
        throttle: Mapping[str, Bucket] | None = None,
        retry_after: int | None = None,
        page_size: int | None = None,
        sku_regions: Sequence[str] | None = None,
        base_url: str = "https://management.azure.com",
        journal: Journal | None = None,
    ) -> None:
        check_arguments("FakeAzure", {"journal": journal}, {"journal": _JOURNAL})
        beginning = beginning_of(
            Inputs(
                region=region,
                catalogue=catalogue,
                clock=clock,
                ids=ids,
                seed_value=seed_value,
                azure=azure,
                timing=timing,
                subscription=subscription,
                any_subscription=any_subscription,
                tenant=tenant,
                resource_group=resource_group,
                cluster=cluster,
                node_resource_group=node_resource_group,
                kubernetes=kubernetes,
                machines_pool=machines_pool,
                network=network,
                subnet_prefix=subnet_prefix,
                kubelet_client_id=kubelet_client_id,
                vnet_guid=vnet_guid,
                throttle=throttle,
                retry_after=retry_after,
                page_size=page_size,
                sku_regions=sku_regions,
                base_url=base_url,
            )
        )
        self._begin(beginning, Journal() if journal is None else journal)

    def _begin(self, beginning: Beginning, journal: Journal) -> None:
        self._beginning = beginning
        self.clock = self._beginning.clock
        self.state = self._made()
        self.market = self.state.market
        self.journal = journal
        self._router = router()
        self.changes = 0
        """Grows with every request that may change something and with every action that ran."""

    def _made(self) -> State:
        state = self._beginning.state()
        state.send = lambda method, path, query, body: self.request(method, path, query=query, body=body)
        return state

    # --- the port ---------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Document | None = None,
        headers: Mapping[str, str] | None = None,
        wire: bool = False,
    ) -> Response:
        """One call. Never raises for what the caller asked: a mistake is an ARM error in the answer.

        `wire`: the answer travels, so that a declared fault can befall it on its way (`x-fakeazure-fault` tells the transport).
        """
        return self.finish(self.begin(method, path, query=query, body=body, headers=headers, wire=wire).read())

    def begin(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Document | None = None,
        headers: Mapping[str, str] | None = None,
        wire: bool = False,
    ) -> Exchange:
        """One call up to its answer, which `finish` ends. Its answer may be left to read: other calls may come meanwhile."""
        self.run_until()
        (faults := self.market.faults).forget()
        verb, place = method.upper(), path.partition("?")[0]
        self.changes += verb not in ("GET", "HEAD")
        match = self._router.find(verb, place)
        if head := verb == "HEAD" and match is None:  # of a resource: is it there?
            match = self._router.find("GET", place)
        received = Request(
            verb,
            place,
            query or EMPTY,
            {name.lower(): value for name, value in headers.items()} if headers else EMPTY,
            body,
            match.params if match is not None else EMPTY,
        )
        now = self.state.now()
        try:
            answer = dispatch.answer(self.state, self._router, received, match, now)
        except ArmError as error:
            answer = error.failure.response()
        extra = {"x-ms-request-id": self.state.guids()}
        if wire:
            extra |= dispatch.on_the_wire(self.state, received, match, now, extra["x-ms-request-id"])
        resource = match.route.resource if match is not None else ""
        return Exchange(received, resource, now, answer, extra, faults.last_fired(), shown=not head or match is None)

    def finish(self, exchange: Exchange) -> Response:
        """The answer to a call that has begun, whose answer is read; from now on it is in the journal."""
        answer, received, extra = exchange.answer, exchange.asked, exchange.extra
        if not exchange.shown:
            answer = Response(204) if answer.status == 200 else replace(answer, body=None)
        if (code := answer.error_code) is not None:
            extra = {**extra, "x-ms-error-code": code}
        answer = Response(answer.status, {**answer.headers, **extra}, answer.body, answer.array, answer.content)
        self.journal.add(
            Call(
                number=self.journal.last + 1,
                time=exchange.time,
                method=received.method,
                path=received.path,
                resource=exchange.resource,
                api_version=received.api_version,
                query=received.query,
                summary=summarise(received.body),
                status=answer.status,
                code=code,
                body=received.body,
                fault=exchange.fault,
                message=answer.error_message if code is not None else "",
            )
        )
        return answer

    # --- time -------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.state.now()

    def next_due(self) -> float | None:
        """When the next queued action is due, in seconds since the epoch; None if nothing is queued."""
        return self.state.timers.next_due()

    def due(self) -> int:
        """Return how many queued actions are due now."""
        return self.state.timers.due()

    def run_until(self, moment: float | None = None) -> int:
        """Run every action that is due by `moment` (by now, if None). Returns how many ran."""
        ran = self.state.timers.run_until(moment)
        self.changes += ran
        return ran

    def on_schedule(self, hook: Callable[[float], None]) -> None:
        """Tell `hook` the due time of everything queued from now on."""
        self.state.timers.on_schedule(hook)

    def on_failed_action(self, hook: Callable[[Exception], None]) -> None:
        """Give `hook` what a queued action raises (a subscriber of yours, say), instead of the caller of `run_until` or `request`."""
        self.state.timers.failed = hook

    def advance(self, seconds: float) -> None:
        """Move the cloud's own `ManualClock`, running what falls due on the way. TypeError for a clock that was given."""
        if not isinstance(self.clock, ManualClock):
            raise TypeError("the clock belongs to somebody else: move it there, then call run_until")
        end = self.clock.now() + seconds
        while (due := self.next_due()) is not None and due <= end:
            self.clock.move_to(due)
            self.run_until()
        self.clock.move_to(end)

    def reset(self) -> None:
        """Return to the state at the start, but for the clock: no resources, no queued actions, an empty journal.

        Subscribers stay; they get no events for what is removed.
        """
        self._replace(self._made())
        self.journal.clear()

    def _replace(self, state: State) -> None:
        state.events, state.timers.hooks = self.state.events, self.state.timers.hooks
        state.timers.failed = self.state.timers.failed
        self.state, self.market = state, state.market
        self.changes += 1
        state.timers.announce()

    def snapshot(self) -> bytes:
        """Return the whole state as bytes for `restore`, of this world or of one that is made with the same inputs.

        What is under way is in it, the journal and subscribers are not. ValueError while a queued action runs, and for what no snapshot
        can hold: documents that are no JSON, more than a snapshot may have.
        """
        from fakeazure import snapshots  # for those who put worlds away

        return snapshots.taken(self.state)

    def restore(self, taken: bytes) -> None:
        """Return to the state of a snapshot, but for the journal; what was under way goes on.

        A clock of the cloud's own moves forward to the snapshot's time, never back. ValueError for bytes that are no snapshot of such a
        world; then nothing has changed.
        """
        from fakeazure import snapshots

        state = self._made()
        moment = snapshots.put_back(state, taken)
        if isinstance(self.clock, MovableClock):
            self.clock.move_to(moment)
        self._replace(state)

    def save(self, folder: Path) -> None:
        """Write the state to a folder, as `snapshot` takes it. ValueError, also where another process keeps its world; OSError."""
        from fakeazure.snapshots.folder import Folder

        with Folder(folder) as saved:
            saved.write(self.snapshot())

    def load(self, folder: Path) -> bool:
        """Restore what was saved in a folder.

        Returns whether there was anything. ValueError for a file that is no snapshot of such a world, OSError.
        """
        from fakeazure.snapshots.folder import read

        taken = read(folder)
        if taken is not None:
            self.restore(taken)
        return taken is not None

    # --- what happens to it -----------------------------------------------------------------------------------------

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` for every event. Returns a function that ends this."""
        return self.state.events.subscribe(subscriber)

    @property
    def calls(self) -> Calls:
        """The calls so far, with assertions for tests."""
        return Calls(self.journal.calls, lambda path: self.state.store.get(path) is not None)
