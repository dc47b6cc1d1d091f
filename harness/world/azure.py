"""Azure beside the cluster: the fake cloud on the world's clock, its timers in the engine's queue, its events to the nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from fakeazure.cloud import FakeAzure
from fakeazure.events import Deleted, Event, PoweredOff, PoweredOn, Preempting, VirtualMachine
from fakeazure.market.spec import lay_over
from harness.engine.clock import SECOND
from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.karpenter.instancetypes import Prices, Usages
from harness.karpenter.instancetypes.market import NO_USAGES
from harness.karpenter.releases import ProviderOptions
from harness.nodes.machine import Hardware, Machine
from harness.world.caches import Caches

_API = {"usages": "2025-04-01"}
_KEY = "timers"
_QUERIES = "/providers/Microsoft.ResourceGraph/"
"""What is posted there only asks."""


class Azure:
    """The cloud as one controller of the engine: its only key is its queue of timers."""

    name = "azure"
    backoff = (1.0, 1.0)

    def __init__(
        self,
        engine: Engine,
        caches: Caches,
        *,
        region: str,
        options: ProviderOptions,
        kubernetes: str,
        market: Mapping[str, Any],
        seed: int,
    ) -> None:
        self._engine = engine
        self._caches = caches
        self.region = region
        self._options = options
        self._plain_prices = not market.get("prices")
        self._own_prices: Prices | None = None
        clock = engine.clock
        self.cloud = FakeAzure(
            region=region,
            catalogue=caches.catalogue,
            clock=lambda: clock.unix,
            seed_value=seed,
            azure=market,
            subscription=options.subscription_id,
            tenant=options.tenant_id,
            resource_group=options.resource_group,
            cluster=options.cluster_name,
            node_resource_group=options.node_resource_group,
            kubernetes=kubernetes,
            machines_pool=options.machines_pool,
            kubelet_client_id=options.kubelet_identity_client_id,
            vnet_guid=options.vnet_guid,
            network={
                "networkPlugin": options.network_plugin,
                "networkPluginMode": options.network_plugin_mode,
                "networkDataplane": options.network_dataplane,
                "networkPolicy": options.network_policy,
                "dnsServiceIP": options.dns_service_ip,
            },
        )
        self.cloud.on_schedule(self._scheduled)
        self.cloud.subscribe(self._event)
        self.powered_on: Callable[[Machine], None] = lambda machine: None
        self.powered_off: Callable[[str, bool], None] = lambda vm_id, gone: None
        self.noticed: Callable[[str], None] = lambda vm_id: None

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The Cloud port: one call of Azure Resource Manager."""
        if method != "GET" and not path.startswith(_QUERIES):
            self._engine.touch()
        return self.cloud.request(method, path, query=query, body=body, headers=headers)

    def watches(self) -> Mapping[str, Router]:
        """Nothing of the cluster."""
        return {}

    def reconcile(self, key: Hashable) -> Result:
        """Makes happen what is due, and asks to be called for the next thing."""
        if self.cloud.run_until(self._engine.clock.unix + 1e-6):
            self._engine.touch()
        due = self.cloud.next_due()
        if due is None:
            return DONE
        return Result(max(0.0, due - self._engine.clock.unix), Wait.PROGRESS)

    def _scheduled(self, due: float) -> None:
        self._engine.touch()
        self._engine.enqueue(self, _KEY, after=max(0.0, due - self._engine.clock.unix))

    def _event(self, event: Event) -> None:
        self._engine.touch()
        if isinstance(event, PoweredOn):
            self.powered_on(self.machine(event.vm))
        elif isinstance(event, Preempting):
            self.noticed(event.vm.id.lower())
        elif isinstance(event, PoweredOff):
            self.powered_off(event.vm.id.lower(), False)
        elif isinstance(event, Deleted):
            self.powered_off(event.vm.id.lower(), True)

    def machine(self, vm: VirtualMachine) -> Machine:
        """A VM as the software on it sees it."""
        return Machine(
            vm_id=vm.id.lower(),
            name=vm.name,
            provider_id=vm.provider_id,
            region=vm.location,
            size=vm.size,
            zone=vm.zone,
            priority=vm.priority,
            hardware=self.hardware(vm.size),
            custom_data=vm.custom_data,
            body=vm.machine,
            aks_labels=vm.aks_labels,
        )

    def hardware(self, size: str) -> Hardware:
        """What a size gives its operating system, by its SKU record."""
        record = self._caches.catalogue.region(self.region).sku(size)
        facts = {pair["name"]: pair["value"] for pair in record.get("capabilities") or ()}
        return Hardware(
            cpus=int(facts.get("vCPUsAvailable") or facts.get("vCPUs") or 1),
            memory_gib=float(facts.get("MemoryGB") or 1),
            arch="arm64" if facts.get("CpuArchitectureType") == "Arm64" else "amd64",
            gpus=int(facts.get("GPUs") or 0),
        )

    def records(self) -> Any:
        """The SKU list as this subscription sees it; the same object while nothing changes."""
        version = self.cloud.market.restrictions.version
        if self._records is None or self._records[0] != version:
            self._records = version, self.cloud.market.skus(self.region)
        return self._records[1]

    _records: tuple[int, Any] | None = None

    def prices(self) -> Prices:
        """The price table; the shared one unless this world has prices of its own."""
        if self._plain_prices:
            return self._caches.prices(self.region)
        if self._own_prices is None:
            region = self._caches.catalogue.region(self.region)
            prices = self.cloud.market.prices
            self._own_prices = Prices(prices.table(region, self.region), prices.table(region, self.region, "spot"))
        return self._own_prices

    def change(self, market: Mapping[str, Any]) -> None:
        """Changes the market while the world runs. Raises MarketError."""
        lay_over(self.cloud.market, market, now=self._engine.clock.unix)
        if market.get("prices"):
            self._plain_prices, self._own_prices = False, None
        self._engine.touch()

    def usages(self) -> Usages:
        """The quota of the region, read as Karpenter reads it; not asked for while there is no limit at all."""
        if not self.cloud.market.quota.limited:
            return NO_USAGES
        path = (
            f"/subscriptions/{self._options.subscription_id}/providers/Microsoft.Compute/locations/{self.region}/usages"
        )
        answer = self.request("GET", path, query={"api-version": _API["usages"]})
        return Usages.from_arm((answer.body or {}).get("value") or ()) if answer.status == 200 else Usages()

    @property
    def seconds(self) -> float:
        """Virtual seconds since the start."""
        return self._engine.clock.now / SECOND
