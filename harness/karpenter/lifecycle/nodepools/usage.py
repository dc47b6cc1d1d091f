"""The capacity that the machines of a NodePool have together, which its status shows and its limits restrict.

Source: core pkg/controllers/state/cluster.go (updateNodePoolResources).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from harness.engine.ports import Change, View
from harness.karpenter.lifecycle.names import nodepool_of
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import Object, is_terminating, name_of, spec_of, status_of
from harness.kube.api.quantity import Format, Quantity, places_of
from harness.kube.api.resources import ResourceList, merge, parse_list
from lazyrecords import dataclass

__all__ = ["RunningUsage", "exceeded_by", "exceeded_limit", "usage_of"]

NODES = "nodes"
"""The number of machines, which counts as a resource."""


def usage_of(view: View, pool: str, deleting: frozenset[str] = frozenset()) -> dict[str, Quantity]:
    """The sum of the capacity of a NodePool's machines, and their number as `nodes`, added up anew at each call.

    NodeClaims that are being deleted do not count, nor those that `deleting` names.
    """
    lists = [
        _capacity(*_said(view, claim))
        for claim in view.list("NodeClaim")
        if nodepool_of(claim) == pool and _counts(claim) and name_of(claim) not in deleting
    ]
    return {**merge(*lists), NODES: _number(len(lists))}


def exceeded_limit(view: View, pool: Object, core: CoreRelease, deleting: frozenset[str] = frozenset()) -> str | None:
    """Core's sentence about a limit that the NodePool's machines already exceed; None while they are within all limits."""
    return exceeded_by(pool, usage_of(view, name_of(pool), deleting), core) if spec_of(pool).get("limits") else None


def exceeded_by(pool: Object, used: ResourceList, core: CoreRelease) -> str | None:
    """Core's sentence about the first of a NodePool's limits, by resource name, that this usage exceeds; None when none is exceeded.

    Source: core pkg/apis/v1/nodepool.go (Limits.ExceededBy), which takes resources in any order.
    """
    written = spec_of(pool).get("limits") or {}
    limits = parse_list(written)
    for name in sorted(limits):
        if name in used and used[name] > limits[name]:
            limit, usage = limits[name].decimal(places_of(written[name])), used[name].decimal()
            if core.structured_errors:
                return f"resource usage exceeds limit (limit={limit}, resource-name={name}, usage={usage})"
            return f"{name} resource usage of {usage} exceeds limit of {limit}"
    return None


@dataclass(frozen=True, slots=True)
class _Counted:
    """A NodeClaim that counts: its NodePool, the capacity in its status (`said`) and its Node's (`reported`), and both as quantities."""

    pool: str
    said: Mapping[str, str]
    reported: Mapping[str, str]
    capacity: ResourceList


class _Sum:
    """The running sum over the machines of one NodePool; amounts are in billionths."""

    __slots__ = ("amounts", "formats", "machines")

    def __init__(self) -> None:
        self.machines = 0
        self.amounts: dict[str, int] = {}
        self.formats: dict[str, Counter[Format]] = {}
        """By resource, in how many machines its quantity has each format."""

    def add(self, capacity: ResourceList, sign: int) -> None:
        """Add a machine, or take it away."""
        self.machines += sign
        for name, quantity in capacity.items():
            formats = self.formats.setdefault(name, Counter())
            formats[quantity.format] += sign
            self.amounts[name] = self.amounts.get(name, 0) + sign * quantity.nano
            if not formats[quantity.format]:
                del formats[quantity.format]
                if not formats:
                    del self.formats[name], self.amounts[name]

    def total(self, in_order: Callable[[], Iterable[ResourceList]]) -> dict[str, Quantity] | None:
        """The sums; each has the format of the first machine whose quantity is not zero, as Go's addition keeps it.

        `in_order` yields the machines in order of creation. Returns None where all quantities of a resource are zero and their formats
        differ: then `usage_of` decides.
        """
        formats_by_name = {name: next(iter(formats)) for name, formats in self.formats.items() if len(formats) == 1}
        missing = self.formats.keys() - formats_by_name.keys()
        for capacity in in_order() if missing else ():
            for name in [name for name in missing if capacity.get(name)]:
                formats_by_name[name] = capacity[name].format
                missing.remove(name)
            if not missing:
                break
        return (
            None
            if missing
            else {name: Quantity(amount, formats_by_name[name]) for name, amount in self.amounts.items()}
        )


class RunningUsage:
    """`usage_of`, kept up to date: a NodeClaim's part is calculated again when it, or a Node with its provider id, has changed.

    It has to `hear` every change of a NodeClaim or Node.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._counted: dict[str, _Counted] = {}
        """By the name of the NodeClaim."""
        self._sums: dict[str, _Sum] = {}
        self._stale: dict[str, None] = {}
        """Names of NodeClaims that have changed since."""
        self._stale_machines: dict[str, None] = {}
        """Provider ids of Nodes that have changed since."""

    def hear(self, change: Change) -> None:
        """Record a change of a NodeClaim or Node."""
        if change.object["kind"] == "NodeClaim":
            self._stale[name_of(change.object)] = None
            return
        for node in (change.object, change.old):
            machine = spec_of(node).get("providerID") if node is not None else None
            if machine:
                self._stale_machines[machine] = None

    def of(self, pool: str) -> dict[str, Quantity]:
        """Return the result of `usage_of` for a NodePool."""
        self._catch_up()
        sum_of_pool = self._sums.get(pool)
        if sum_of_pool is None:
            return {NODES: _number(0)}
        total = sum_of_pool.total(lambda: self._in_order(pool))
        return usage_of(self._view, pool) if total is None else {**total, NODES: _number(sum_of_pool.machines)}

    def _in_order(self, pool: str) -> Iterator[ResourceList]:
        for claim in self._view.list("NodeClaim"):
            counted = self._counted.get(name_of(claim))
            if counted is not None and counted.pool == pool:
                yield counted.capacity

    def _catch_up(self) -> None:
        for machine in self._stale_machines:
            for claim in self._view.indexed("nodeclaims-by-provider-id", machine):
                self._stale[name_of(claim)] = None
        for name in self._stale:
            self._count(name)
        self._stale.clear()
        self._stale_machines.clear()

    def _count(self, name: str) -> None:
        claim, before = self._view.get("NodeClaim", name), self._counted.get(name)
        if claim is None or not _counts(claim):
            if before is not None:
                del self._counted[name]
                self._add(before, -1)
            return
        pool, (own, reported) = nodepool_of(claim), _said(self._view, claim)
        if before is not None:
            if before.pool == pool and before.said is own and before.reported is reported:
                return
            self._add(before, -1)
        now = self._counted[name] = _Counted(pool, own, reported, _capacity(own, reported))
        self._add(now, 1)

    def _add(self, counted: _Counted, sign: int) -> None:
        sum_of_pool = self._sums.setdefault(counted.pool, _Sum())
        sum_of_pool.add(counted.capacity, sign)
        if not sum_of_pool.machines:
            del self._sums[counted.pool]


def _counts(claim: Object) -> bool:
    return bool(status_of(claim).get("providerID")) and not is_terminating(claim)


def _said(view: View, claim: Object) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The capacity in a NodeClaim's status, and in its Node's."""
    nodes = view.indexed("nodes-by-provider-id", status_of(claim)["providerID"])
    return status_of(claim).get("capacity") or _NOTHING, (
        status_of(nodes[0]).get("capacity") if nodes else None
    ) or _NOTHING


def _capacity(own: Mapping[str, str], reported: Mapping[str, str]) -> ResourceList:
    """The capacity of the Node, completed by that of the NodeClaim."""
    return parse_list({**own, **reported})


def _number(machines: int) -> Quantity:
    return Quantity.parse(str(machines))


_NOTHING: Mapping[str, str] = {}
