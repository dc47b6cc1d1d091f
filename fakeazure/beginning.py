"""The inputs of a world of Azure, as often as it begins anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from fakeazure.arm.throttling import Bucket, Throttle
from fakeazure.catalog import Catalogue
from fakeazure.catalog.locations import location_key
from fakeazure.guids import Guids
from fakeazure.market.amendments import amended
from fakeazure.market.declared_reservations import declared_reservations
from fakeazure.market.declared_subnets import declared_subnets
from fakeazure.market.facts import CatalogueLike
from fakeazure.market.spec import build_market
from fakeazure.market.wording import flawless
from fakeazure.routing import router
from fakeazure.seed import ClusterInputs, add_declared_subnets, seed
from fakeazure.state import Settings, State
from fakeazure.timers import ClockLike, ManualClock, Timers
from fakeazure.timing import Timing
from lazyrecords import dataclass

__all__ = ["SUBSCRIPTION", "TENANT", "Beginning", "Inputs", "beginning_of"]

SUBSCRIPTION = "00000000-1111-2222-3333-444444444444"
TENANT = "55555555-6666-7777-8888-999999999999"


class Inputs(TypedDict):
    """The arguments of FakeAzure that a world begins from; FakeAzure has their defaults and says what they are."""

    region: str
    catalogue: CatalogueLike | None
    clock: ClockLike | None
    ids: Callable[[], str] | None
    seed_value: int
    azure: Mapping[str, Any] | None
    timing: Timing | None
    subscription: str
    any_subscription: bool
    tenant: str
    resource_group: str
    cluster: str
    node_resource_group: str | None
    kubernetes: str
    machines_pool: str
    network: Mapping[str, str] | None
    subnet_prefix: str
    kubelet_client_id: str
    vnet_guid: str
    throttle: Mapping[str, Bucket] | None
    retry_after: int | None
    page_size: int | None
    sku_regions: Sequence[str] | None
    base_url: str


@dataclass(frozen=True, slots=True)
class Beginning:
    """The inputs with every default in place."""

    settings: Settings
    catalogue: CatalogueLike
    clock: ClockLike
    ids: Callable[[], str] | None
    seed_value: int
    azure: Mapping[str, Any]
    timing: Timing
    throttle: Mapping[str, Bucket] | None
    retry_after: int | None
    cluster: ClusterInputs

    def state(self) -> State:
        """The state of a new world. Raises ValueError for a mistake in `azure`."""
        timers = Timers(self.clock)
        market = build_market(self.catalogue, self.azure, now=timers.now(), seed=self.seed_value)
        guids = self.ids or Guids(self.seed_value)
        state = State(self.settings, market, timers, guids, self.timing, Throttle(self.throttle))
        state.operations.retry_after = self.retry_after
        if state.timing.graph_lag > 0:
            state.store.remember(timers.now, state.timing.graph_lag)
        reservations = declared_reservations(self.azure, self.catalogue, self.settings.location)
        seed(state, self.cluster, flawless(reservations))
        add_declared_subnets(state, flawless(declared_subnets(self.azure)))
        state.types, state.actions = router().types, router().actions
        return state


def beginning_of(inputs: Inputs) -> Beginning:
    """Return the inputs with their defaults in place. Raises ValueError for an unknown region."""
    location, azure, clock = location_key(inputs["region"]), inputs["azure"] or {}, inputs["clock"]
    catalogue = amended(inputs["catalogue"] or Catalogue.load(), azure, location)
    if location not in catalogue.regions:
        catalogue.region(location)  # the catalogue's own error knows the nearest names
    return Beginning(
        settings=_settings(inputs, location),
        catalogue=catalogue,
        clock=clock if clock is not None else ManualClock(),
        ids=inputs["ids"],
        seed_value=inputs["seed_value"],
        azure=azure,
        timing=inputs["timing"] or Timing(),
        throttle=inputs["throttle"],
        retry_after=inputs["retry_after"],
        cluster=ClusterInputs(
            kubernetes=inputs["kubernetes"],
            machines_pool=inputs["machines_pool"],
            network=inputs["network"] or {},
            subnet_prefix=inputs["subnet_prefix"],
            kubelet_client_id=inputs["kubelet_client_id"],
            vnet_guid=inputs["vnet_guid"],
        ),
    )


def _settings(inputs: Inputs, location: str) -> Settings:
    group, cluster = inputs["resource_group"], inputs["cluster"]
    return Settings(
        subscription=inputs["subscription"],
        tenant=inputs["tenant"],
        location=location,
        resource_group=group,
        node_resource_group=inputs["node_resource_group"] or f"MC_{group}_{cluster}_{location}",
        cluster=cluster,
        base_url=inputs["base_url"],
        page_size=inputs["page_size"],
        any_subscription=inputs["any_subscription"],
        sku_regions=tuple(location_key(name) for name in inputs["sku_regions"] or (location,)),
    )
