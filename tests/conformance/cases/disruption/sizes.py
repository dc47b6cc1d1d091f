"""The catalogs that the clusters name: instance types like Azure's, with prices that tie, differ by zone, or cannot be had."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache

from tests.conformance.cases.disruption.scene import ARCH, AZURE, CAPACITY, OS, SIZE, ZONE, ZONES, Json

__all__ = ["disruption_catalogs"]

_FAMILIES = (("D", 4, 0.048), ("E", 8, 0.063), ("F", 2, 0.0423), ("B", 4, 0.0416), ("L", 8, 0.078))


@cache
def disruption_catalogs() -> Mapping[str, list[Json]]:
    """Instance types by catalog."""
    return {"small": _small(), "wide": _wide(), "ties": _ties(), "regional": _regional()}


def _size(
    name: str,
    family: str,
    cores: int,
    gib: int,
    price: float,
    *,
    spot: float | None = 0.25,
    zones: Sequence[str] = ZONES,
    arch: str = "amd64",
    missing: Sequence[tuple[str, str]] = (),
    factors: Mapping[str, float] | None = None,
) -> Json:
    """``missing``: (zone, capacity type) that are sold out; ``factors``: price by zone; ``spot``: its part of the price."""
    parts = {"on-demand": 1.0} if spot is None else {"on-demand": 1.0, "spot": spot}
    offerings = [
        {
            "requirements": [
                {"key": CAPACITY, "operator": "In", "values": [kind]},
                {"key": ZONE, "operator": "In", "values": [zone]},
            ],
            "price": round(price * part * (factors or {}).get(zone, 1.0), 6),
            "available": (zone, kind) not in missing,
        }
        for zone in zones
        for kind, part in parts.items()
    ]
    labels = {
        SIZE: [name],
        ARCH: [arch],
        OS: ["linux"],
        ZONE: sorted(zones),
        CAPACITY: list(parts),
        AZURE + "sku-name": [name],
        AZURE + "sku-family": [family],
        AZURE + "sku-cpu": [str(cores)],
        AZURE + "sku-memory": [str(gib * 1024)],
        AZURE + "sku-version": [name.rsplit("_v", 1)[-1] if "_v" in name else "1"],
    }
    return {
        "name": name,
        "requirements": [{"key": key, "operator": "In", "values": values} for key, values in sorted(labels.items())],
        "capacity": {"cpu": str(cores), "memory": f"{gib}Gi", "pods": "110", "ephemeral-storage": "128Gi"},
        "overhead": {
            "kubeReserved": {"cpu": "100m", "memory": "1Gi"},
            "systemReserved": {},
            "evictionThreshold": {"memory": "100Mi"},
        },
        "offerings": offerings,
    }


def _small() -> list[Json]:
    return [
        _size("Standard_D2s_v5", "D", 2, 8, 0.096),
        _size("Standard_D4s_v5", "D", 4, 16, 0.192),
        _size("Standard_D8s_v5", "D", 8, 32, 0.384),
        _size("Standard_D16s_v5", "D", 16, 64, 0.768),
        _size("Standard_E4s_v5", "E", 4, 32, 0.252, spot=0.4),
        _size("Standard_E8s_v5", "E", 8, 64, 0.504, spot=0.4, missing=[("eastus-2", "spot")]),
        _size("Standard_F4s_v2", "F", 4, 8, 0.169, spot=0.3),
        _size("Standard_F8s_v2", "F", 8, 16, 0.338, spot=0.3, zones=ZONES[:2]),
        _size("Standard_D4ps_v5", "D", 4, 16, 0.154, arch="arm64"),
    ]


def _wide() -> list[Json]:
    """80 sizes."""
    draw = random.Random(4711)
    return [
        _size(
            f"Standard_{family}{cores}s_v{version}",
            family,
            cores,
            cores * ratio,
            round(base * cores * (1 + 0.02 * (version - 3)), 4),
            spot=round(draw.choice([0.1, 0.15, 0.2, 0.25, 0.35, 0.5]), 2),
            factors={zone: draw.choice([1.0, 1.0, 1.1]) for zone in ZONES},
            missing=[(zone, kind) for zone in ZONES for kind in ("on-demand", "spot") if draw.random() < 0.05],
        )
        for family, ratio, base in _FAMILIES
        for version in (3, 4, 5, 6)
        for cores in (2, 4, 8, 16)
    ]


def _ties() -> list[Json]:
    """Several sizes at one price, on spot and on demand."""
    return [
        _size("Standard_A2_v2", "A", 2, 4, 0.1, spot=0.5),
        _size("Standard_B2ms", "B", 2, 8, 0.1, spot=0.5),
        _size("Standard_D2_v3", "D", 2, 8, 0.1, spot=0.2),
        _size("Standard_D2a_v4", "D", 2, 8, 0.1, spot=0.3),
        _size("Standard_B4ms", "B", 4, 16, 0.2, spot=0.5),
        _size("Standard_D4_v3", "D", 4, 16, 0.2, spot=0.2),
        _size("Standard_D4a_v4", "D", 4, 16, 0.2, spot=0.3, missing=[("eastus-1", "on-demand")]),
        _size("Standard_D8_v3", "D", 8, 32, 0.4, spot=0.2),
        _size("Standard_D8a_v4", "D", 8, 32, 0.4, spot=0.3),
        _size("Standard_E2_v3", "E", 2, 16, 0.13, spot=None),
    ]


def _regional() -> list[Json]:
    """Sizes without zones, which is zone 0."""
    return [
        _size("Standard_D2_v5", "D", 2, 8, 0.09, zones=["0"]),
        _size("Standard_D4_v5", "D", 4, 16, 0.18, zones=["0"]),
        _size("Standard_D8_v5", "D", 8, 32, 0.36, zones=["0"], missing=[("0", "spot")]),
        _size("Standard_NC6s_v3", "N", 6, 112, 3.06, zones=["0"]),
    ]
