"""Recorded errors of Azure: the words, and the limits in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.texts import failure
from fakeazure.catalog import Catalogue
from fakeazure.market.facts import Size
from fakeazure.market.quota import CORES, Quota, charge_of
from fakeazure.resources.compute import vm_checks
from tests.recorded.rows import Row, entries

_REGION = "eastus"


def error_rows() -> Iterator[Row]:
    """Every fact about errors."""
    for entry in entries("errors.yaml"):
        name = f"{entry.get('code', 'ephemeral OS disk')} {entry.get('size', '')}".strip()
        if "limit" in entry:
            yield Row(entry["where"], name, "limit", str(entry["limit"]), str(_limit(entry)))
            continue
        why = str(entry.get("proves", ""))
        code, status, message = _said(entry) if not why else ("", 0, "")
        yield Row(entry["where"], name, "code", entry["code"], code, why=why)
        yield Row(
            entry["where"], name, "text", entry["text"], entry["text"] if entry["text"] in message else message, why=why
        )
        if "status" in entry:
            yield Row(entry["where"], name, "status", str(entry["status"]), str(status), why=why)


def _limit(entry: Mapping[str, Any]) -> int:
    """The largest disk that a size takes, found by asking for ever larger ones."""
    size = Size.of(Catalogue.load().region(_REGION).sku(entry["size"]), _REGION)
    settings = {"option": "Local", "placement": entry["placement"]}
    guest = bool(entry.get("trusted_launch"))

    def fits(gigabytes: int) -> bool:
        disk = {"diskSizeGB": gigabytes, "diffDiskSettings": settings}
        return vm_checks.os_disk_mismatch(size, disk, guest_state=guest) is None

    return next(gigabytes for gigabytes in range(1, 2048) if not fits(gigabytes + 1))


def _said(entry: Mapping[str, Any]) -> tuple[str, int, str]:
    if "quota" in entry:
        told = entry["quota"]
        quota = Quota({told["family"]: told["limit"], CORES: 100_000})
        quota.take(charge_of("s", _REGION, family=told["family"], vcpus=told["used"], priority="Regular"))
        wanted = charge_of("s", _REGION, family=told["family"], vcpus=told["vcpus"], priority="Regular")
        shortage = quota.shortage(wanted)
        assert shortage is not None
        found = shortage.failure()
    else:
        found = failure(entry["row"], facts=entry.get("fill"))
    return found.code, found.status, found.message
