"""The inputs of a world of Azure, as often as it begins anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any, TypedDict
from urllib.parse import urlsplit

from fakeazure.arguments import (
    Argument,
    argument_mistakes,
    check_arguments,
    flag,
    keys_of,
    kubernetes_version,
    mapping,
    optional,
    text,
    whole,
)
from fakeazure.arm.throttling import REAL_BUCKETS, Bucket, Throttle
from fakeazure.catalog import Catalogue
from fakeazure.catalog.locations import location_key
from fakeazure.guids import Guids, is_guid
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

__all__ = ["ARGUMENTS", "SUBSCRIPTION", "TENANT", "Beginning", "Inputs", "beginning_of"]

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
    """Return the inputs with their defaults in place. Raises ValueError with every argument of a wrong form, or an unknown region."""
    check_arguments("FakeAzure", inputs, ARGUMENTS)
    location, azure, clock = location_key(inputs["region"]), inputs["azure"] or {}, inputs["clock"]
    catalogue = amended(inputs["catalogue"] or Catalogue.load(), azure, location)
    for place in (location, *map(location_key, inputs["sku_regions"] or ())):
        if place not in catalogue.regions:
            catalogue.region(place)  # the catalogue's own error knows the nearest names
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


def _is_prefix(value: str) -> bool:
    if not value.rpartition("/")[2].isdecimal() or "/" not in value:  # ip_network takes addresses and masks, too
        return False
    try:
        ip_network(value)
    except ValueError:
        return False
    return True


def _is_url(value: str) -> bool:
    if not value.isascii() or not value.isprintable() or set(value) & set(' "<>\\?#@'):
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port, or of an IPv6 address
        return False


def _network_mistakes(network: Mapping[Any, Any]) -> Iterator[str]:
    forms = {name: _TEXTS if name in ("ipFamilies", "podCidrs", "serviceCidrs") else _TEXT for name in network}
    yield from (mistake for _, mistake in argument_mistakes(network, forms))


def _are_texts(values: Any) -> bool:
    return (
        isinstance(values, Sequence)
        and not isinstance(values, str)
        and all(isinstance(value, str) and value for value in values)
    )


_GUID = text("a guid", is_guid)
_NAME = text("a name of letters, digits, '-', '.', '_', '(' and ')'", re.compile(r"[\w.()-]{0,89}[\w()-]").fullmatch)
_TEXT = text(fits=lambda value: True)
_TEXTS = Argument("a list of texts", _are_texts)
ARGUMENTS: Mapping[str, Argument] = {
    "region": text("the name of a region"),
    "catalogue": optional(
        Argument("a catalogue", lambda value: hasattr(value, "regions") and hasattr(value, "region"))
    ),
    "clock": optional(Argument("a clock", lambda value: callable(value) or callable(getattr(value, "now", None)))),
    "ids": optional(Argument("callable", callable)),
    "any_subscription": flag(),
    "seed_value": whole(),
    "azure": optional(mapping()),
    "timing": optional(Argument("a Timing", lambda value: isinstance(value, Timing))),
    "subscription": _GUID,
    "tenant": _GUID,
    "resource_group": _NAME,
    "cluster": _NAME,
    "node_resource_group": optional(_NAME),
    "kubernetes": kubernetes_version(),
    "machines_pool": text("a name of up to 12 small letters and digits", re.compile(r"[a-z][a-z0-9]{0,11}").fullmatch),
    "network": optional(mapping(_network_mistakes)),
    "subnet_prefix": text("the prefix of a network such as '10.224.0.0/16'", _is_prefix),
    "kubelet_client_id": _TEXT,
    "vnet_guid": _TEXT,
    "throttle": optional(keys_of(lambda: REAL_BUCKETS, Argument("a Bucket", lambda value: isinstance(value, Bucket)))),
    "retry_after": optional(whole(0)),
    "page_size": optional(whole(1)),
    "sku_regions": optional(Argument("a list of names of regions", _are_texts)),
    "base_url": text("a URL of http or https without user and query", _is_url),
}


def _settings(inputs: Inputs, location: str) -> Settings:
    group, cluster = inputs["resource_group"], inputs["cluster"]
    return Settings(
        subscription=inputs["subscription"],
        tenant=inputs["tenant"],
        location=location,
        resource_group=group,
        node_resource_group=inputs["node_resource_group"] or f"MC_{group}_{cluster}_{location}",
        cluster=cluster,
        base_url=inputs["base_url"].rstrip("/"),
        page_size=inputs["page_size"],
        any_subscription=inputs["any_subscription"],
        sku_regions=tuple(location_key(name) for name in inputs["sku_regions"] or (location,)),
    )
