"""A user's own SKU list in place of a region's: reads what `az vm list-skus -o json` prints, or the ARM reply itself.

Both shapes are taken (a list, or an object with `value`), names of keys in any case (PowerShell writes them upper), the doubled zone-name
key of az is joined, nulls are dropped. A mistake is a `SkuFileError` of one line, with the name and, where it can be told, the place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from atomicfiles.inputs import open_input
from fakeazure.catalog.catalogue import RegionCatalogue, prices_of
from fakeazure.catalog.errors import CatalogueError, nearest
from fakeazure.catalog.records import Record

LARGEST = 256 * 1024 * 1024
"""Bytes; an unfiltered list of all regions is about 100 MB, one region's is 2 to 6 MB."""

_KEYS = {
    key.lower(): key
    for key in (
        "resourceType", "name", "tier", "size", "family", "kind", "capacity", "locations", "locationInfo", "location", "zones",
        "zoneDetails", "capabilities", "value", "restrictions", "restrictionInfo", "type", "values", "reasonCode", "apiVersions",
        "costs", "nextLink",
    )
}  # fmt: skip
_ORDER = ("resourceType", "name", "tier", "size", "family", "locations", "locationInfo", "capabilities", "restrictions")
_WHOLE_NUMBERS = ("vCPUs", "GPUs", "MaxResourceVolumeMB", "CachedDiskBytes", "NvmeDiskSizeInMiB")


class SkuFileError(CatalogueError):
    """A file that is not a usable SKU list."""


@dataclass(frozen=True, slots=True)
class SkuList:
    """The virtual machine sizes of one region from a file; `ignored` counts what else the file held."""

    source: str
    region: str
    records: tuple[Record, ...]
    ignored: int

    def catalogue(self) -> RegionCatalogue:
        """The list as a region's catalogue. Prices are the packaged ones of that region, for the listed sizes only."""
        by_name = {record["name"]: record for record in self.records}
        zones = sorted({zone for record in self.records for info in record["locationInfo"] for zone in info["zones"]})
        prices = MappingProxyType(prices_of(self.region, by_name))
        return RegionCatalogue(
            name=self.region,
            zones=tuple(zones),
            skus=self.records,
            by_name=MappingProxyType(by_name),
            prices=prices,
            spot_prices=prices,
            source=self.source,
        )

    def text(self) -> str:
        """The list as the ARM reply, deterministic; this is what `fakeazure import-skus -o` writes and `read` takes back."""
        return json.dumps({"value": list(self.records)}, indent=1, ensure_ascii=False) + "\n"


def read(path: Path, region: str | None = None) -> SkuList:
    """Read a file; `region` chooses one if it holds several. Raises SkuFileError for every mistake."""
    text = _text(path)
    items = _items(path, _parse(path, text))
    reader = _Reader(path, text)
    machines = []
    for index, item in enumerate(items):
        record = reader.folded(index, item)
        if reader.text_at(index, record, "resourceType", "resourceType") == "virtualMachines":
            machines.append(reader.machine(index, record))
    if not machines:
        raise SkuFileError(
            f"{path}: no virtual machine sizes among its {len(items)} entries (resourceType virtualMachines)"
        )
    chosen = _choose(path, machines, region)
    records = sorted(
        (record for _, record in machines if chosen in record["locations"]), key=lambda record: record["name"]
    )
    for before, after in pairwise(records):
        if before["name"] == after["name"]:
            raise SkuFileError(f"{path}: {after['name']} is listed twice for {chosen}")
    return SkuList(str(path), chosen, tuple(records), len(items) - len(records))


def _text(path: Path) -> str:
    try:
        with open_input(path) as file:
            size = path.stat().st_size
            content = file.read(LARGEST + 1) if size <= LARGEST else b""
        if (size := max(size, len(content))) > LARGEST:
            raise SkuFileError(f"{path}: {size:,} bytes, more than a SKU list can have; list one region (--location)")
    except OSError as error:
        problem = "is a folder, not a file" if isinstance(error, IsADirectoryError) else error.strerror or error
        raise SkuFileError(f"{path}: {problem}") from None
    # PowerShell's redirection writes UTF-16 with a byte order mark.
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise SkuFileError(
            f"{path}: not text: byte {error.start} is not {encoding.removesuffix('-sig').upper()}"
        ) from None
    if "\0" in text:
        raise SkuFileError(f"{path}: not text: it holds NUL bytes")
    if not text.strip():
        raise SkuFileError(f"{path}: the file is empty")
    return text


def _parse(path: Path, text: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise SkuFileError(f"{path}: not JSON: {constant} is no JSON number")

    try:
        return json.loads(text, parse_constant=refuse)
    except SkuFileError:
        raise
    except json.JSONDecodeError as error:
        raise SkuFileError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise SkuFileError(f"{path}: not a SKU list: nested too deep") from None
    except ValueError as error:
        raise SkuFileError(f"{path}: not JSON: {error}") from None


def _items(path: Path, document: Any) -> list[Any]:
    if isinstance(document, dict):
        folded = {key.lower(): value for key, value in document.items()}
        if folded.get("nextlink"):
            raise SkuFileError(
                f"{path}: one page of several (it has a nextLink); az vm list-skus -o json gives all of them"
            )
        if "value" not in folded:
            raise SkuFileError(
                f"{path}: not a SKU list: an object without `value`; give the output of az vm list-skus -o json"
            )
        document = folded["value"]
    if not isinstance(document, list):
        raise SkuFileError(f"{path}: not a SKU list: a list is needed, this is {_kind(document)}")
    if not document:
        raise SkuFileError(f"{path}: the list is empty")
    return document


def _choose(path: Path, machines: list[tuple[int, dict[str, Any]]], region: str | None) -> str:
    held: list[str] = sorted({location for _, record in machines for location in record["locations"]})
    if region is None:
        if len(held) > 1:
            raise SkuFileError(
                f"{path}: holds {len(held)} regions ({', '.join(held[:4])}, …); say which one with --region"
            )
        return held[0]
    if region not in held:
        near = nearest(region, held) or tuple(held[:4])
        raise SkuFileError(f"{path}: has no sizes of {region!r}; it has {', '.join(near)}")
    return region


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


class _Reader:
    """Checks and rewrites one entry; knows the file so that a mistake can be given its place."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def fail(self, index: int, where: str, problem: str) -> NoReturn:
        """Refuse entry `index`; `where` is the path inside it."""
        line, column = self._position(index)
        raise SkuFileError(f"{self._path}:{line}:{column}: [{index}]{'.' if where else ''}{where}: {problem}")

    def folded(self, index: int, item: Any) -> dict[str, Any]:
        """The entry with the API's spelling of all keys."""
        if not isinstance(item, dict):
            self.fail(index, "", f"an object is needed, this is {_kind(item)}")
        folded: dict[str, Any] = _fold(item)
        return folded

    def text_at(self, index: int, record: Mapping[str, Any], key: str, where: str) -> str:
        """A text that must be there and not be empty."""
        value = record.get(key)
        if not isinstance(value, str) or not value:
            self.fail(index, where, "missing" if value in (None, "") else f"text is needed, this is {_kind(value)}")
        return value

    def machine(self, index: int, record: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """A virtual machine size as a record of the catalogue, with its index in the file."""
        name = self.text_at(index, record, "name", "name")
        tier, _, short = name.partition("_")
        rewritten: dict[str, Any] = {
            "resourceType": "virtualMachines",
            "name": name,
            "tier": record.get("tier") or tier,
            "size": record.get("size") or short,
            "family": record.get("family") or "",
            "locations": [
                place.lower().replace(" ", "") for place in self._texts(index, record.get("locations"), "locations")
            ],
            "locationInfo": self._infos(index, record.get("locationInfo")),
            "capabilities": self._capabilities(index, record.get("capabilities"), "capabilities"),
            "restrictions": self._restrictions(index, record.get("restrictions")),
        }
        for key in ("tier", "size", "family"):
            if not isinstance(rewritten[key], str):
                self.fail(index, key, f"text is needed, this is {_kind(rewritten[key])}")
        if not rewritten["locations"]:
            self.fail(index, "locations", "missing")
        self._check_numbers(index, rewritten["capabilities"])
        return index, {key: rewritten[key] for key in _ORDER}

    def _check_numbers(self, index: int, capabilities: list[dict[str, str]]) -> None:
        for pair in capabilities:
            if pair["name"] in _WHOLE_NUMBERS and not pair["value"].isdecimal():
                self.fail(index, f"capabilities.{pair['name']}", f"a whole number is needed, this is {pair['value']!r}")
            if pair["name"] == "MemoryGB" and not pair["value"].replace(".", "", 1).isdecimal():
                self.fail(index, "capabilities.MemoryGB", f"a number is needed, this is {pair['value']!r}")

    def _infos(self, index: int, infos: Any) -> list[dict[str, Any]]:
        rewritten = []
        for number, info in enumerate(self._objects(index, infos, "locationInfo")):
            where = f"locationInfo[{number}]"
            details = [
                {
                    "Name": self._texts(index, detail.get("name"), f"{where}.zoneDetails[{order}].name"),
                    "capabilities": self._capabilities(
                        index, detail.get("capabilities"), f"{where}.zoneDetails[{order}].capabilities"
                    ),
                }
                for order, detail in enumerate(self._objects(index, info.get("zoneDetails"), f"{where}.zoneDetails"))
            ]
            location = self.text_at(index, info, "location", f"{where}.location")
            rewritten.append(
                {
                    "location": location.lower().replace(" ", ""),
                    "zones": self._texts(index, info.get("zones"), f"{where}.zones"),
                    "zoneDetails": details,
                }
            )
        return rewritten

    def _capabilities(self, index: int, pairs: Any, where: str) -> list[dict[str, str]]:
        return [
            {
                "name": self.text_at(index, pair, "name", f"{where}[{number}].name"),
                "value": self.text_at(index, pair, "value", f"{where}[{number}].value"),
            }
            for number, pair in enumerate(self._objects(index, pairs, where))
        ]

    def _restrictions(self, index: int, restrictions: Any) -> list[dict[str, Any]]:
        rewritten = []
        for number, restriction in enumerate(self._objects(index, restrictions, "restrictions")):
            where = f"restrictions[{number}]"
            info = restriction.get("restrictionInfo") or {}
            if not isinstance(info, dict):
                self.fail(index, f"{where}.restrictionInfo", f"an object is needed, this is {_kind(info)}")
            own: dict[str, Any] = {
                "locations": self._texts(index, info.get("locations"), f"{where}.restrictionInfo.locations")
            }
            if info.get("zones") is not None:
                own["zones"] = self._texts(index, info["zones"], f"{where}.restrictionInfo.zones")
            rewritten.append(
                {
                    "type": self.text_at(index, restriction, "type", f"{where}.type"),
                    "values": self._texts(index, restriction.get("values"), f"{where}.values"),
                    "restrictionInfo": own,
                    "reasonCode": restriction.get("reasonCode") or "",
                }
            )
        return rewritten

    def _objects(self, index: int, value: Any, where: str) -> list[dict[str, Any]]:
        if value is None:
            return []
        if not isinstance(value, list):
            self.fail(index, where, f"a list is needed, this is {_kind(value)}")
        for number, element in enumerate(value):
            if not isinstance(element, dict):
                self.fail(index, f"{where}[{number}]", f"an object is needed, this is {_kind(element)}")
        return value

    def _texts(self, index: int, value: Any, where: str) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, list):
            self.fail(index, where, f"a list is needed, this is {_kind(value)}")
        for number, element in enumerate(value):
            if not isinstance(element, str):
                self.fail(index, f"{where}[{number}]", f"text is needed, this is {_kind(element)}")
        return list(value)

    def _position(self, index: int) -> tuple[int, int]:
        """Line and column at which entry `index` begins; the text is known to be JSON."""
        text = self._text
        start = _list_start(text)
        decoder = json.JSONDecoder()
        for _ in range(index):
            _, end = decoder.raw_decode(text, _skip(text, start))
            start = _skip(text, end) + 1
        start = _skip(text, start)
        return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


def _list_start(text: str) -> int:
    """The offset after the bracket that opens the list of entries, bare or under `value`."""
    start = _skip(text, 0)
    if text[start] == "[":
        return start + 1
    decoder = json.JSONDecoder()
    start += 1
    while True:
        key, end = decoder.raw_decode(text, _skip(text, start))
        begin = _skip(text, _skip(text, end) + 1)
        if key.lower() == "value":
            return begin + 1
        _, end = decoder.raw_decode(text, begin)
        start = _skip(text, end) + 1


def _skip(text: str, start: int) -> int:
    while text[start] in " \t\r\n":
        start += 1
    return start


def _fold(value: Any) -> Any:
    """Keys in the API's spelling; of two that fold to the same one (az: `Name` and `name`) the one with a value stays."""
    if isinstance(value, list):
        return [_fold(element) for element in value]
    if not isinstance(value, dict):
        return value
    folded: dict[str, Any] = {}
    for key, inner in value.items():
        name = str(_KEYS.get(key.lower(), key))
        if folded.get(name) is None:
            folded[name] = _fold(inner)
    return folded
