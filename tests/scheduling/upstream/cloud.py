"""The small cloud of Karpenter core's own tests, in the protocol's form: six sizes in three zones, and lists of many.

Core's fake provider declares three label keys of its own as well known (size, special, integer). Here keys that Azure's
provider has as well known stand in for them. Source: core pkg/cloudprovider/fake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from harness.kube.api.resources import parse_list, render, subtract

__all__ = [
    "ARCH",
    "CAPACITY",
    "CATALOGS",
    "CPU",
    "GPU",
    "HOST",
    "OS",
    "SIZE",
    "SPECIAL",
    "TYPE",
    "ZONE",
    "ZONES",
    "allocatable",
    "assorted",
    "catalog",
    "growing",
    "instance_type",
    "offering",
    "price",
]

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
CAPACITY = "karpenter.sh/capacity-type"
TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
SIZE = "karpenter.azure.com/sku-series"  # core's fake: small or large
SPECIAL = "karpenter.azure.com/sku-version"  # core's fake: only large sizes have it
CPU = "karpenter.azure.com/sku-cpu"  # core's fake: a number of CPUs
GPU = "fake.com/vendor-a"
OTHER_GPU = "fake.com/vendor-b"
ZONES = ("test-zone-1", "test-zone-2", "test-zone-3")
BOUGHT = tuple(("spot", zone) for zone in ZONES[:2]) + tuple(("on-demand", zone) for zone in ZONES)
"""How every size can be bought unless told: no spot in the third zone."""
RESERVED = {"cpu": "100m", "memory": "10Mi"}


def price(capacity: Mapping[str, str]) -> float:
    """A tenth per CPU and per 10⁹ bytes, one for each kind of GPU."""
    amounts = {name: quantity.nano / 1e9 for name, quantity in parse_list(capacity).items()}
    gpus = sum(1.0 for name in (GPU, OTHER_GPU) if name in amounts)
    return 0.1 * amounts["cpu"] + 0.1 * amounts["memory"] / 1e9 + gpus


def offering(kind: str, zone: str, cost: float, *, available: bool = True) -> Json:
    """One way to buy a size."""
    return {"requirements": [_in(CAPACITY, kind), _in(ZONE, zone)], "price": cost, "available": available}


def instance_type(
    name: str,
    *,
    arch: str = "amd64",
    systems: Sequence[str] = ("darwin", "linux", "windows"),
    offerings: Sequence[Json] = (),
    extra: Sequence[Json] = (),
    **resources: str,
) -> Json:
    """A size; 4 CPUs, 4Gi and five pods unless told. Resource names have ``_`` for what Python does not allow."""
    given = {_RESOURCES.get(key, key): value for key, value in resources.items()}
    capacity = {"cpu": "4", "memory": "4Gi", "pods": "5", **given}
    ways = list(offerings) or [offering(kind, zone, price(capacity)) for kind, zone in BOUGHT]
    sold = [way for way in ways if way["available"]]
    amounts = parse_list(capacity)
    large = amounts["cpu"] > parse_list({"n": "4"})["n"] and amounts["memory"] > parse_list({"n": "8Gi"})["n"]
    return {
        "name": name,
        "requirements": [
            _in(TYPE, name),
            _in(ARCH, arch),
            _in(OS, *systems),
            _in(ZONE, *sorted({_value(way, ZONE) for way in sold})),
            _in(CAPACITY, *sorted({_value(way, CAPACITY) for way in sold})),
            _in(CPU, str(-(-amounts["cpu"].nano // 1_000_000_000))),
            _in(SIZE, "large" if large else "small"),
            _in(SPECIAL, "optional") if large else {"key": SPECIAL, "operator": "DoesNotExist"},
            *extra,
        ],
        "capacity": capacity,
        "overhead": {"kubeReserved": RESERVED},
        "offerings": ways,
    }


_RESOURCES = {"gpu": GPU, "other_gpu": OTHER_GPU, "storage": "ephemeral-storage"}


def _in(key: str, *values: str) -> Json:
    return {"key": key, "operator": "In", "values": list(values)}


def _value(way: Json, key: str) -> str:
    return next(str(each["values"][0]) for each in way["requirements"] if each["key"] == key)


def allocatable(size: Json) -> dict[str, str]:
    """Capacity without what the kubelet keeps."""
    return render(subtract(parse_list(size["capacity"]), parse_list(RESERVED)))


def usual() -> list[Json]:
    """The six sizes that nearly every test has."""
    return [
        instance_type("default-instance-type"),
        instance_type("small-instance-type", cpu="2", memory="2Gi"),
        instance_type("gpu-vendor-instance-type", gpu="2"),
        instance_type("gpu-vendor-b-instance-type", other_gpu="2"),
        instance_type(
            "arm-instance-type", arch="arm64", systems=("darwin", "ios", "linux", "windows"), cpu="16", memory="128Gi"
        ),
        instance_type("single-pod-instance-type", pods="1"),
    ]


def growing(total: int) -> list[Json]:
    """Sizes of 1 … total CPUs with 2Gi and ten pods for each."""
    return [
        instance_type(f"fake-it-{n - 1}", cpu=str(n), memory=f"{2 * n}Gi", pods=str(10 * n))
        for n in range(1, total + 1)
    ]


def assorted(cpus: Iterable[int] = (1, 2, 4, 8, 16, 32, 64)) -> list[Json]:
    """Every mixture of CPU, memory, zone, way to buy, system and architecture, each a size of its own."""
    return [
        instance_type(
            f"{cpu}-cpu-{memory}-mem-{arch}-{system}-{zone}-{kind}",
            arch=arch,
            systems=(system,),
            cpu=str(cpu),
            memory=f"{memory}Gi",
            offerings=(offering(kind, zone, price({"cpu": str(cpu), "memory": f"{memory}Gi"})),),
        )
        for cpu in cpus
        for memory in (1, 2, 4, 8, 16, 32, 64, 128)
        for zone in ZONES
        for kind in ("spot", "on-demand")
        for system in ("linux", "windows")
        for arch in ("amd64", "arm64")
    ]


def many() -> list[Json]:
    """One more than Karpenter puts into a NodeClaim."""
    return [
        instance_type(f"many-{n:03}", offerings=(offering("on-demand", ZONES[0], 1 + n / 1000),)) for n in range(601)
    ]


CATALOGS: dict[str, Callable[[], list[Json]]] = {
    "usual": usual,
    "assorted": assorted,
    "five": lambda: growing(5),
    "hundred": lambda: growing(100),
    "many": many,
}
"""Lists that requests name."""


@cache
def catalog(name: str) -> dict[str, Json]:
    """A list that requests name, by the names of its sizes; made once and not to be changed."""
    return {size["name"]: size for size in CATALOGS[name]()}
