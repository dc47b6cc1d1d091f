"""The inputs of a world of Azure, as often as it begins anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from fakeazure.arm.throttling import Bucket, Throttle
from fakeazure.catalog import Catalogue
from fakeazure.catalog.locations import location_key
from fakeazure.guids import Guids
from fakeazure.journal import Journal
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


class Inputs(TypedDict, total=False):
    """The arguments of FakeAzure; each may be left out, or be None where its default is named."""

    region: str
    """The region of the cluster; eastus by default."""
    catalogue: CatalogueLike | None
    """The catalogue that Azure sells from; this package's own by default."""
    clock: ClockLike | None
    """Seconds since the epoch; a ManualClock by default."""
    ids: Callable[[], str] | None
    """Makes guids; repeatable under `seed_value` by default."""
    seed_value: int
    azure: Mapping[str, Any] | None
    """The market (`fakeazure.market.spec`)."""
    timing: Timing | None
    """The durations of operations."""
    subscription: str
    any_subscription: bool
    """Whether every subscription is known that somebody asks for; none but `subscription` by default."""
    tenant: str
    resource_group: str
    """`rg` by default."""
    cluster: str
    """The cluster's name; `c` by default."""
    node_resource_group: str | None
    """`MC_GROUP_CLUSTER_REGION` by default."""
    kubernetes: str
    """The version of the cluster's control plane."""
    machines_pool: str
    """The agent pool of AKS machines; `aksmanagedap` by default."""
    network: Mapping[str, str] | None
    """Replaces parts of the network profile: networkPlugin, networkPluginMode, networkDataplane, networkPolicy, dnsServiceIP."""
    subnet_prefix: str
    kubelet_client_id: str
    """The client id of the kubelets' own identity; made from its name by default."""
    vnet_guid: str
    """The GUID of the cluster's own network; made from its name by default."""
    throttle: Mapping[str, Bucket] | None
    """ARM's limits on requests; none by default."""
    retry_after: int | None
    """Seconds that polls are told to wait; without it the header is left out."""
    page_size: int | None
    """Items per page of the long lists (SKUs, usages, prices); one page by default."""
    sku_regions: Sequence[str] | None
    """The regions whose SKUs a list without a filter has; that of the cluster by default."""
    base_url: str
    journal: Journal | None
    """Keeps every call by default."""


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
    """The inputs with their defaults. Raises ValueError for an unknown region, TypeError for an argument of another name."""
    unknown = sorted(inputs.keys() - Inputs.__annotations__.keys())
    if unknown:
        raise TypeError(f"FakeAzure has no argument {', '.join(unknown)}")
    location, azure, clock = (
        location_key(inputs.get("region", "eastus")),
        inputs.get("azure") or {},
        inputs.get("clock"),
    )
    catalogue = amended(inputs.get("catalogue") or Catalogue.load(), azure, location)
    if location not in catalogue.regions:
        catalogue.region(location)  # the catalogue's own error knows the nearest names
    return Beginning(
        settings=_settings(inputs, location),
        catalogue=catalogue,
        clock=clock if clock is not None else ManualClock(),
        ids=inputs.get("ids"),
        seed_value=inputs.get("seed_value", 0),
        azure=azure,
        timing=inputs.get("timing") or Timing(),
        throttle=inputs.get("throttle"),
        retry_after=inputs.get("retry_after"),
        cluster=ClusterInputs(
            kubernetes=inputs.get("kubernetes", "1.34.2"),
            machines_pool=inputs.get("machines_pool", "aksmanagedap"),
            network=inputs.get("network") or {},
            subnet_prefix=inputs.get("subnet_prefix", "10.224.0.0/16"),
            kubelet_client_id=inputs.get("kubelet_client_id", ""),
            vnet_guid=inputs.get("vnet_guid", ""),
        ),
    )


def _settings(inputs: Inputs, location: str) -> Settings:
    group, cluster = inputs.get("resource_group", "rg"), inputs.get("cluster", "c")
    return Settings(
        subscription=inputs.get("subscription", SUBSCRIPTION),
        tenant=inputs.get("tenant", TENANT),
        location=location,
        resource_group=group,
        node_resource_group=inputs.get("node_resource_group") or f"MC_{group}_{cluster}_{location}",
        cluster=cluster,
        base_url=inputs.get("base_url", "https://management.azure.com"),
        page_size=inputs.get("page_size"),
        any_subscription=inputs.get("any_subscription", False),
        sku_regions=tuple(location_key(name) for name in inputs.get("sku_regions") or (location,)),
    )
