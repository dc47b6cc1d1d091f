"""Observations of a world's Azure: calls, machines, faults, quotas, prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fakeazure.events import VirtualMachine
from fakeazure.journal import Call
from fakeazure.market.faults import Fault
from fakeazure.market.quota import Shortage
from fakeazure.market.spot_discount import percent
from harness.karpenter.labels.core import SPOT
from harness.world.assembly import Assembly
from harness.world.costs.machine_price import MachinePrice, price_of
from lazyrecords import dataclass

__all__ = ["AzureObservations", "QuotaUse"]


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """The used and the allowed amount of a quota of the region."""

    used: int
    limit: int


class AzureObservations(Assembly):
    """Questions about the fake cloud; none of them changes it."""

    def calls(self) -> Sequence[Call]:
        """The calls that Azure received, in order."""
        return tuple(self.cloud.journal)

    def refused_calls(self) -> list[Call]:
        """The writes that Azure answered with an error, in order."""
        return [call for call in self.calls() if call.method == "PUT" and call.status >= 400]

    def vms(self) -> Sequence[VirtualMachine]:
        """All virtual machines, oldest first."""
        return self.cloud.vms()

    def faults(self) -> Sequence[Fault]:
        """The declared faults, in order."""
        return tuple(self.cloud.market.faults.all)

    def unfired_faults(self) -> Sequence[Fault]:
        """Declared faults that never happened."""
        return self.cloud.unfired()

    def usages(self) -> Mapping[str, QuotaUse]:
        """The region's list of usages, by their names as Azure writes them."""
        rows = self.cloud.market.usages(self.options.subscription_id, self.region)
        return {str(row["name"]["value"]): QuotaUse(row["currentValue"], row["limit"]) for row in rows}  # type: ignore[index, arg-type]

    def quotas(self) -> Mapping[str, QuotaUse]:
        """The quotas of the region for which this world has a limit, by their names in small letters."""
        quota, subscription = self.cloud.market.quota, self.options.subscription_id
        return {
            name: QuotaUse(quota.used(subscription, self.region, name), limit)
            for name, limit in quota.limits(self.region).items()
        }

    def shortage(self, size: str, *, spot: bool) -> Shortage | None:
        """The quota that one more machine of a size would exceed; None where there is room."""
        priority, subscription = "Spot" if spot else "Regular", self.options.subscription_id
        return self.cloud.market.shortage(size, self.region, priority=priority, subscription=subscription)

    def price(self, size: str, capacity_type: str) -> MachinePrice:
        """Return the price of a machine of a size here; capacity type `spot` or anything else."""
        catalogue = self.caches.catalogue.region(self.region)
        return price_of(self.cloud.market, catalogue, self.region, size, capacity_type)

    @property
    def spot_discount(self) -> str:
        """Return the part by which spot is supposed to cost less than on demand (`70%`); "" where the list has its own prices."""
        discount = self.cloud.market.prices.spot_discount
        return "" if discount is None else percent(discount)

    def cost(self) -> float:
        """USD per hour of all machines of this cloud, Karpenter's and those of agent pools; one without a price counts as nothing."""
        machines = (*self.vms(), *self.agent_pools.machines())
        kinds = ((vm.size, SPOT if vm.priority == "Spot" else "") for vm in machines)
        return sum(self.price(size, kind).usd or 0.0 for size, kind in kinds)
