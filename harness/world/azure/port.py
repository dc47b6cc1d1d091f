"""Azure as Karpenter reaches it: calls of Resource Manager, and the lists that it reads there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from fakeazure.cloud import FakeAzure
from fakeazure.market.spec import lay_over
from fakeazure.market.spot_discount import SPOT_DISCOUNT
from harness.engine.engine import Engine
from harness.karpenter.instancetypes import Usages
from harness.karpenter.instancetypes.market import NO_USAGES
from harness.world.azure.price_source import AzurePrices
from harness.world.settings import Settings

__all__ = ["AzurePort", "make_cloud"]

_API = {"usages": "2025-04-01"}
_QUERIES = "/providers/Microsoft.ResourceGraph/"
"""The path under which a POST only reads."""


def make_cloud(settings: Settings, engine: Engine) -> FakeAzure:
    """The fake cloud on the engine's clock. Raises UnknownRegion, MarketError."""
    clock, options = engine.clock, settings.options
    return FakeAzure(
        region=settings.region,
        catalogue=settings.caches.catalogue,
        clock=lambda: clock.unix,
        seed_value=settings.seed,
        azure=settings.market,
        timing=settings.cloud_timing,
        subscription=options.subscription_id,
        tenant=options.tenant_id,
        resource_group=options.resource_group,
        cluster=options.cluster_name,
        node_resource_group=options.node_resource_group,
        kubernetes=settings.kubernetes,
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


class AzurePort:
    """The Cloud port of a world, with the SKU list, prices and quotas as Karpenter reads them."""

    def __init__(self, settings: Settings, engine: Engine, cloud: FakeAzure) -> None:
        self._engine, self._cloud, self._caches = engine, cloud, settings.caches
        self._region, self._options = settings.region, settings.options
        self.prices = AzurePrices(cloud.market, settings.caches, settings.region, settings.seed)
        """The price list as Karpenter reads it."""
        self._records: tuple[int, Any] | None = None

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
        return self._cloud.request(method, path, query=query, body=body, headers=headers)

    def records(self) -> Any:
        """The SKU list as this subscription sees it; the same object while nothing changes."""
        version = self._cloud.market.restrictions.version
        if self._records is None or self._records[0] != version:
            self._records = version, self._cloud.market.skus(self._region)
        return self._records[1]

    def change(self, market: Mapping[str, Any]) -> None:
        """Change the market while the world runs. Raises MarketError."""
        lay_over(self._cloud.market, market, now=self._engine.clock.unix)
        if market.get("prices") or SPOT_DISCOUNT in market:
            self.prices.declared()
        self._engine.touch()

    def usages(self) -> Usages:
        """Return the quota of the region, as Karpenter reads it; not read while there is no limit at all."""
        if not self._cloud.market.quota.limited:
            return NO_USAGES
        path = f"/subscriptions/{self._options.subscription_id}/providers/Microsoft.Compute/locations/{self._region}/usages"
        answer = self.request("GET", path, query={"api-version": _API["usages"]})
        return Usages.from_arm((answer.body or {}).get("value") or ()) if answer.status == 200 else Usages()

    def in_use(self) -> Hashable:
        """Return the amounts that count against the quotas of all regions now."""
        return self._cloud.market.quota.in_use()
