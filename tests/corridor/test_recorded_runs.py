"""Whole runs of the real controller (provider 1.14.0), each against one failure of Azure: what it wrote, logged and marked.

Names and zones are drawn there as here, so zones are compared as sets, and moments to the second.
"""

from dataclasses import dataclass, field

import pytest

from harness.testing import nodeclass, nodepool, pod, requirement
from tests.corridor.conftest import SMALL

ON_DEMAND = requirement("karpenter.sh/capacity-type", "on-demand")
REGION = "southcentralus"
FIRST, SECOND = "Standard_D2as_v6", "Standard_D2_v3"
# The runs were made when the catalogue had the zones 2 and 3 for FIRST; which numbers a zone has is a matter of the subscription.
ZONES = (f"{REGION}-1", f"{REGION}-2")
NIC, VM = "networkInterfaces", "virtualMachines"

FAMILY_QUOTA = (
    "Operation could not be completed as it results in exceeding approved standardDav6Family Cores quota. Additional details - "
    "Deployment Model: Resource Manager, Location: southcentralus, Current Limit: 0, Current Usage: 0, Additional Required: 2, "
    "(Minimum) New Limit Required: 2."
)


@dataclass(frozen=True)
class Recording:
    """`writes`: seconds after the first, method, type, status, error. `marks`: reason, zones in the order of their refusals, time."""

    writes: tuple[tuple[int, str, str, int, str | None], ...]
    launched: tuple[str, set[str]]
    marks: tuple[tuple[str, tuple[set[str], ...], str], ...] = ()
    azure: dict = field(default_factory=dict)
    world: dict = field(default_factory=dict)
    errors: tuple[str, ...] = ()


def refused(at: int, code: str) -> tuple[tuple[int, str, str, int, str | None], ...]:
    return ((at, "PUT", NIC, 201, None), (at, "PUT", VM, 409, code), (at, "DELETE", NIC, 202, None))


def taken(at: int) -> tuple[tuple[int, str, str, int, str | None], ...]:
    return ((at, "PUT", NIC, 201, None), (at, "PUT", VM, 201, None))


def fault(what: str, times: int, **more: object) -> dict:
    return {"faults": [{"what": what, "where": {"size": FIRST}, "times": times, **more}]}


OZAR, SKU = "OverconstrainedZonalAllocationRequest", "SkuNotAvailable"
CREATING = "launching nodeclaim, creating nodeclaim, creating instance failed, creating nodeclaim, "
NO_SKU = (
    CREATING + f"the requested SKU is unavailable for instance type {FIRST} in zone {{}} with capacity type on-demand, "
    "for more details please visit: https://aka.ms/azureskunotavailable"
)
NO_ROOM = (
    CREATING
    + f"unable to allocate resources in the selected zone ({{}}) with on-demand capacity type and {FIRST} VM size. "
    "(will try a different zone, capacity type or VM size to fulfill your request)"
)

RECORDINGS = {
    "SKU not available, zonal and regional": Recording(
        writes=(*refused(0, SKU), *refused(1, SKU), *taken(2)),
        launched=(SECOND, {*ZONES, f"{REGION}-3"}),
        marks=(("SKUNotAvailable", (set(ZONES), {"0"}), "23h0m0s"),),
        azure=fault(SKU, 2),
        errors=(NO_SKU, NO_SKU),
    ),
    "no room in both zones": Recording(
        writes=(*refused(0, OZAR), *refused(1, OZAR), *taken(2)),
        launched=(FIRST, {"0"}),
        marks=(("OverconstrainedZonalAllocationFailure", ({ZONES[0]}, {ZONES[1]}), "1h0m0s"),),
        azure=fault(OZAR, 2),
        errors=(NO_ROOM, NO_ROOM),
    ),
    "a family without quota": Recording(
        writes=(*refused(0, "OperationNotAllowed"), *taken(1)),
        launched=(SECOND, {*ZONES, f"{REGION}-3"}),
        marks=(("SubscriptionQuotaReached", ({*ZONES, "0"},), "1h0m0s"),),
        azure=fault("OperationNotAllowed", 1, message=FAMILY_QUOTA, status=409),
        errors=(
            CREATING + f"subscription level on-demand vCPU quota for {FIRST} has been reached "
            "(may try provision an alternative instance type)",
        ),
    ),
    "a script of bootstrapping": Recording(
        writes=taken(0), launched=(FIRST, {*ZONES}), world={"provision_mode": "bootstrappingclient"}
    ),
    "an AKS machine": Recording(
        writes=((0, "PUT", "machines", 201, None),),
        launched=(FIRST, {*ZONES}),
        world={"provision_mode": "aksmachineapi"},
    ),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_run(walk, name):
    recorded = RECORDINGS[name]
    way = walk(
        nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure=recorded.azure, **recorded.world
    )
    calls = [
        (int(at) - 1, method, path.split("/")[0], status, code)
        for at, method, path, status, code in way.calls("PUT", "DELETE")
        if not path.startswith("extensions/")
    ]
    assert calls == list(recorded.writes)
    (launched,) = [line for line in way.world.log if line.message == "launched nodeclaim"]
    assert launched.values["instance-type"] == recorded.launched[0]
    assert launched.values["zone"] in recorded.launched[1]
    assert launched.values["capacity-type"] == "on-demand"


@pytest.mark.parametrize("name", [name for name, one in RECORDINGS.items() if one.marks])
def test_what_a_recorded_run_left_alone(walk, name):
    recorded = RECORDINGS[name]
    ((reason, zones, ttl),) = recorded.marks
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure=recorded.azure)
    lines = [line for line in way.world.log if line.level == "debug"]
    at = sorted({line.at for line in lines})
    removed = [
        {
            line.values["zone"]
            for line in lines
            if line.at == moment and line.message == "removing offering from offerings"
        }
        for moment in at
    ]
    assert sorted(map(sorted, removed)) == sorted(map(sorted, zones))
    for size, family in zip(
        lines[::2], lines[1::2], strict=True
    ):  # the family right after each of its size's offerings
        assert size.values == {
            "unavailable": reason,
            "instance-type": FIRST,
            "zone": size.values["zone"],
            "capacity-type": "on-demand",
            "ttl": ttl,
        }
        assert family.message == "marking VM Family unavailable in zone"
        assert family.values == {
            "family": "standardDav6Family",
            "capacity-type": "on-demand",
            "zone": size.values["zone"],
            "max-cpu": "2",
            "ttl": ttl,
        }
    errors = [line.values["error"] for line in way.world.log if line.message == "Reconciler error"]
    tried = [(*sorted(zone - {"0"}), "0")[0] for zone in removed]
    assert len(errors) == len(recorded.errors)
    for error, text in zip(errors, recorded.errors, strict=True):
        assert error in {text.format(zone) for zone in (*ZONES, *tried)}


@pytest.mark.parametrize(("release", "tries"), [("1.4.0", 2), ("1.5.0", 1), ("1.14.0", 1)])
def test_a_lack_of_spot_quota_was_forgotten_after_three_minutes_in_1_4_0(walk, release, tries):
    """It had the time of marks without one; the hour that the caller gave was not handed on (pkg/cache/unavailableofferings.go)."""
    both = requirement("karpenter.sh/capacity-type", "spot", "on-demand")
    azure = {"quota": {"lowPriorityCores": 0}}
    way = walk(nodeclass(), nodepool(SMALL, both), pod("p1"), region=REGION, azure=azure, karpenter=release)
    way.world.advance(240)
    way.world.apply(pod("later", cpu="1500m"))
    way.world.settle()
    assert len([path for _, _, path, status, _ in way.calls("PUT") if status == 409 and VM in path]) == tries
    assert len(way.world.list("NodeClaim")) == 2


# The calls to ARM of one NodePool → Node → deletion, from the first about its machine on, without those that wait for an operation.
LIFE = (
    ("GET", "networkSecurityGroups", 200),
    ("GET", "loadBalancers", 200),
    ("PUT", NIC, 201),
    ("GET", VM, 404),
    ("PUT", VM, 201),
    ("GET", VM, 200),
    ("DELETE", VM, 202),
    ("GET", NIC, 404),
    ("GET", VM, 404),
)


def test_a_recorded_life(walk):
    """A read that only repeats the one before it counts once; how often a machine is looked at while it goes is a matter of seconds.

    The real controller waits in the call for the machine's end, and looks for the NIC before it looks for the machine again.
    """
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION)
    way.world.delete("Pod", "p1")
    way.world.delete("NodeClaim", way.claim["metadata"]["name"])
    assert way.world.settle().quiescent
    calls = []
    for _, method, path, status, _ in way.calls("GET", "PUT", "DELETE"):
        parts = path.split("/")
        kind = parts[0] if parts[0] in (NIC, VM) else parts[-1]
        if kind in {one for _, one, _ in LIFE} and (method, kind, status) not in calls[-2:]:
            calls.append((method, kind, status))
    looks = [one for one in calls if one != ("GET", VM, 200)]
    wanted = [one for one in LIFE if one != ("GET", VM, 200)]
    assert looks[:-2] == wanted[:-2]
    assert set(looks[-2:]) == set(wanted[-2:])
    assert calls.index(("GET", VM, 200)) == LIFE.index(("GET", VM, 200))
