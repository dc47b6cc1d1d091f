"""The cheapest sizes first, and minValues. Source: core pkg/controllers/provisioning/scheduling/instance_selection_test.go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import (
    ARCH,
    CAPACITY,
    OS,
    TYPE,
    ZONE,
    assorted,
    catalog,
    growing,
    instance_type,
    offering,
)
from tests.scheduling.upstream.objects import need, nodepool, pod, pods
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

EVERY = nodepool("default", need(CAPACITY, "In", "spot", "on-demand"), need(ARCH, "In", "arm64", "amd64"))


def only(**values: str) -> list[Json]:
    """Requirements with one value each, by short names."""
    keys = {"arch": ARCH, "os": OS, "zone": ZONE, "ct": CAPACITY}
    return [need(keys[name], "In", value) for name, value in values.items()]


CHEAPEST: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = [
    # what stands in brackets behind upstream's "should schedule on one of the cheapest instances"; NodePool, pod
    ("", {}, {}),
    ("pod arch = amd64", {}, {"arch": "amd64"}),
    ("pod arch = arm64", {}, {"arch": "arm64"}),
    ("prov arch = amd64", {"arch": "amd64"}, {}),
    ("prov arch = arm64", {"arch": "arm64"}, {}),
    ("prov os = windows", {"os": "windows"}, {}),
    ("pod os = windows", {}, {"os": "windows"}),
    ("pod os = linux", {}, {"os": "linux"}),
    ("prov zone = test-zone-2", {"zone": "test-zone-2"}, {}),
    ("pod zone = test-zone-2", {}, {"zone": "test-zone-2"}),
    ("prov ct = spot", {"ct": "spot"}, {}),
    ("pod ct = spot", {}, {"ct": "spot"}),
    ("prov ct = ondemand, prov zone = test-zone-1", {"ct": "on-demand", "zone": "test-zone-1"}, {}),
    ("pod ct = spot, pod zone = test-zone-1", {}, {"ct": "spot", "zone": "test-zone-1"}),
    ("prov ct = spot, pod zone = test-zone-2", {"ct": "spot"}, {"zone": "test-zone-2"}),
    (
        "prov ct = ondemand/test-zone-1/arm64/windows",
        {"ct": "on-demand", "zone": "test-zone-1", "arch": "arm64", "os": "windows"},
        {},
    ),
    (
        "prov = spot/test-zone-2, pod = amd64/linux",
        {"ct": "spot", "zone": "test-zone-2"},
        {"arch": "amd64", "os": "linux"},
    ),
    (
        "pod ct = spot/test-zone-2/amd64/linux",
        {},
        {"ct": "spot", "zone": "test-zone-2", "arch": "amd64", "os": "linux"},
    ),
]


@pytest.mark.parametrize(
    ("required", "wanted"),
    [
        pytest.param(*row[1:], id=f"should schedule on one of the cheapest instances{f' ({row[0]})' if row[0] else ''}")
        for row in CHEAPEST
    ],
)
def test_cheapest(trial: NewTrial, required: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Every size that is offered fits what both ask for, and the first costs what the cheapest of all costs."""
    cluster = trial(nodepool("default", *only(**required)) if required else EVERY, types="assorted")
    plan = cluster.provision(pod(needs=only(**wanted)))
    (claim,) = plan.claims
    cheapest = min(size["offerings"][0]["price"] for size in catalog("assorted").values())
    assert claim["cheapest_price"] == pytest.approx(cheapest)
    for name in claim["instance_types"]:
        has = {each["key"]: each.get("values") for each in catalog("assorted")[name]["requirements"]}
        assert all(has[each["key"]] == each["values"] for each in only(**required) + only(**wanted))


@pytest.mark.parametrize(
    ("gone", "required", "wanted"),
    [
        pytest.param(
            {"arch": "arm64"},
            {},
            {"arch": "arm64"},
            id="should not schedule if no instance type matches selector (pod arch = arm)",
        ),
        pytest.param(
            {"arch": "arm64", "zone": "test-zone-2"},
            {},
            {"arch": "arm64", "zone": "test-zone-2"},
            id="should not schedule if no instance type matches selector (pod arch = arm zone=test-zone-2)",
        ),
        pytest.param(
            {"arch": "arm64", "zone": "test-zone-2"},
            {"arch": "arm64"},
            {"zone": "test-zone-2"},
            id="should not schedule if no instance type matches selector (prov arch = arm / pod zone=test-zone-2)",
        ),
    ],
)
def test_no_size_left(
    trial: NewTrial, gone: Mapping[str, str], required: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    def left(size: Json) -> bool:
        has = {each["key"]: each.get("values") for each in size["requirements"]}
        return any(has[each["key"]] != each["values"] for each in only(**gone))

    sizes = [size for size in assorted((1,)) if left(size)]
    assert sizes
    pool = nodepool("default", *only(**required)) if required else EVERY
    plan = trial(pool, types=sizes).provision(pod(needs=only(**wanted)))
    assert not plan.claims


@pytest.mark.parametrize("cpu", [100, 1000, 2000, 2500, 4000, 8000, 16000])
def test_enough_resources(trial: NewTrial, cpu: int) -> None:
    """should schedule on an instance with enough resources"""
    for memory in (102, 1024, 2048, 4096, 8192, 16384, 32768):
        alike = pods(3, requests={"cpu": f"{cpu}m" if cpu % 1000 else str(cpu // 1000), "memory": f"{memory}Mi"})
        (claim,) = trial(EVERY, types="assorted").provision(*alike, launch=False).claims
        for name in claim["instance_types"]:
            cpus, _, gibibytes, *_ = name.split("-")
            assert int(cpus) * 1000 - 100 >= 3 * cpu
            assert int(gibibytes) * 1024 - 10 >= 3 * memory


def priced(name: str, *, arch: str = "amd64", size: str = "1", number: str = "", **prices: float) -> Json:
    """A size with as many GiB as CPUs in one zone; `number` is the value of a key of its own."""
    ways = [offering(kind.replace("_", "-"), "test-zone-1a", cost) for kind, cost in prices.items()]
    extra = [need(NUMBER, "In", number)] if number else []
    return instance_type(name, arch=arch, systems=("linux",), cpu=size, memory=f"{size}Gi", offerings=ways, extra=extra)


NUMBER = "karpenter/numerical-value"


def test_prices_of_what_the_nodepool_buys(trial: NewTrial) -> None:
    """should schedule on cheaper on-demand instance even when spot price ordering would place other instance types first"""
    sizes = [priced("first", on_demand=1.0, spot=0.2), priced("second", on_demand=1.3, spot=0.1)]
    cluster = trial(nodepool("default", need(CAPACITY, "In", "on-demand")), types=sizes)
    plan = cluster.provision(pod())
    assert plan.sizes("pod") == ["first", "second"]


TWO = [priced("type-1", size="1", spot=0.52), priced("type-2", size="4", spot=1.0)]
THREE = [
    priced("type-1", size="1", spot=0.52),
    priced("type-2", size="2", spot=1.0),
    priced("type-3", size="4", spot=1.2),
]
NAMED = need(TYPE, "In", "type-1", "type-2", minValues=2)


def numbered(*sizes: tuple[str, str, float]) -> list[Json]:
    """Sizes by CPUs, number and price."""
    return [
        priced(f"type-{place}", size=cpus, number=number, spot=cost)
        for place, (cpus, number, cost) in enumerate(sizes, 1)
    ]


APART: list[tuple[str, list[Json], list[Json], int]] = [
    # upstream's name, sizes, requirements; how many sizes each NodeClaim has at least
    ("should schedule respecting the minValues from instance-type requirements", TWO, [NAMED], 2),
    (
        "should schedule respecting the minValues in Gt operator",
        numbered(("1", "2", 0.52), ("1", "3", 1.0), ("4", "4", 1.2)),
        [need(NUMBER, "Gt", "2", minValues=2)],
        2,
    ),
    (
        "should schedule respecting the minValues in Lt operator",
        numbered(("1", "2", 0.52), ("2", "3", 1.0), ("4", "4", 1.2)),
        [need(NUMBER, "Lt", "4", minValues=2)],
        2,
    ),
    (
        "should schedule considering the max of the minValues of In and NotIn operators in the instance-type requirements",
        THREE,
        [need(TYPE, "In", "type-1", "type-2", "type-3", minValues=1), need(TYPE, "NotIn", "type-3", minValues=2)],
        2,
    ),
    (
        "should schedule considering the max of the minValues of Gt and Lt operators.",
        numbered(("1", "2", 0.52), ("1", "3", 1.0), ("4", "4", 1.2), ("4", "5", 1.2)),
        [need(NUMBER, "Gt", "2", minValues=1), need(NUMBER, "Lt", "5", minValues=2)],
        2,
    ),
    (
        "should schedule and pick the max of minValues of InstanceTypes if multiple operators are used for the same requirement.",
        TWO,
        [need(TYPE, "Exists", minValues=1), NAMED],
        2,
    ),
    (
        "should schedule and respect multiple requirement keys with minValues",
        [priced("type-1", arch="arm64", size="1", spot=0.52), priced("type-2", size="4", spot=1.0)],
        [need(ARCH, "Exists", minValues=2), need(TYPE, "In", "type-1", "type-2", minValues=1)],
        2,
    ),
]
PAIR = {"cpu": "900m", "memory": "900Mi"}


@pytest.mark.parametrize(("sizes", "requirements", "least"), [pytest.param(*row[1:], id=row[0]) for row in APART])
def test_min_values_keep_pods_apart(trial: NewTrial, sizes: list[Json], requirements: list[Json], least: int) -> None:
    """Both pods fit on the largest size; that would leave the NodeClaim with fewer sizes than it must have."""
    plan = trial(nodepool("default", *requirements), types=sizes).provision(*pods(2, requests=PAIR))
    assert plan.groups() == [["pod-00"], ["pod-01"]]
    assert all(len(claim["instance_types"]) >= least for claim in plan.claims)
    free = [{key: value for key, value in each.items() if key != "minValues"} for each in requirements]
    assert len(trial(nodepool("default", *free), types=sizes).provision(*pods(2, requests=PAIR)).claims) == 1


UNMET: list[tuple[str, str | list[Json], Json, list[Json], str]] = [
    (
        "scheduler should fail if the minValues in Gt operator is not satisfied",
        numbered(("1", "2", 0.52), ("4", "3", 1.0)),
        need(NUMBER, "Exists", minValues=2),
        pods(2, requests=PAIR, needs=[need(NUMBER, "Gt", "2")]),
        "minValues requirement is not met for label(s) (label(s)=[karpenter/numerical-value])",
    ),
    (
        "scheduler should fail if the minValues in Lt operator is not satisfied",
        numbered(("2", "2", 0.52), ("4", "4", 1.2)),
        need(NUMBER, "Lt", "4", minValues=2),
        pods(2, requests=PAIR),
        "nodepool requirements filtered out all available instance types",
    ),
    (
        "schedule should fail if minimum number of InstanceTypes is not met as per the minValues in the requirement",
        growing(10),
        need(TYPE, "Exists", minValues=11),
        [pod()],
        "nodepool requirements filtered out all available instance types",
    ),
    (
        # 600 of 601 are kept; upstream lowers that limit instead
        "schedule should fail if minimum number of InstanceTypes is not met as per the minValues in the requirement after truncation",
        "many",
        need(TYPE, "Exists", minValues=601),
        [pod()],
        "minValues requirement is not met",
    ),
]


@pytest.mark.parametrize(
    ("sizes", "requirement", "waiting", "text"), [pytest.param(*row[1:], id=row[0]) for row in UNMET]
)
def test_min_values_that_nothing_meets(
    trial: NewTrial, sizes: str | list[Json], requirement: Json, waiting: list[Json], text: str
) -> None:
    plan = trial(nodepool("default", requirement), types=sizes).provision(*waiting)
    assert not plan.claims
    for each in waiting:
        assert text in plan.error(each["metadata"]["name"])


def test_as_many_sizes_as_are_kept_are_enough(trial: NewTrial) -> None:
    plan = trial(nodepool("default", need(TYPE, "Exists", minValues=600)), types="many").provision(pod())
    assert len(plan.sizes("pod")) == 600
