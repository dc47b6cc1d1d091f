"""The answering program, its ops, and the regions of the release's own SKU lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.loop import op_names

__all__ = ["answer"]


def answer(request: Mapping[str, Any], context: AnswerContext) -> dict[str, Any]:
    """``{release, core, ops, region, region_non_zonal}``; the regions are null when no data file was given.

    The region without zones is the one none of whose SKUs lists a zone.
    """
    locations = (context.data or {}).get("locations") or {}
    zonal = sorted(name for name, location in locations.items() if _has_zones(location))
    regional = sorted(name for name in locations if name not in zonal)
    return {
        "release": f"v{context.release.version}",
        "core": f"v{context.release.core.version}",
        "ops": [name for name in op_names() if name != "info"],
        "region": zonal[0] if zonal else None,
        "region_non_zonal": regional[0] if regional else None,
    }


def _has_zones(location: Mapping[str, Any]) -> bool:
    return any(info.get("zones") for sku in location["skus"] for info in sku.get("locationInfo") or ())
