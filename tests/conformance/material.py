"""What cases of a release are made of, asked of its oracle: SKU lists, prices, catalogs of instance types, CRD schemas."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.karpenter.releases import provider
from harness.karpenter.releases.scheduling import rules_of
from tests.conformance.build import has_extension, takes_attach_limits
from tests.conformance.cases.disruption.sizes import disruption_catalogs
from tests.conformance.cases.objects import Schemas, schemas_of
from tests.conformance.cases.schedule import MANY
from tests.conformance.processes import Answerer

__all__ = ["Material", "read_json", "write_gzip"]

_SIZE = "node.kubernetes.io/instance-type"
_COPIES = 11

Json = dict[str, Any]

# a list of the sizes of a whole region, synthesised by series rules: it says nothing about Azure, but fills a catalog
EASTUS = Path(__file__).resolve().parent / "data" / "skus-eastus.json.gz"


@dataclass(frozen=True)
class Material:
    """The inputs of one release's cases.

    `data` is the content of the data file (``locations.LOCATION.{skus, prices, spot_prices}``); `types` are instance types by
    location, the location with zones first; `catalogs` by catalog name.
    """

    release: str
    core: str
    data: Json
    crds: Sequence[Json]
    types: Mapping[str, list[Json]]
    catalogs: Mapping[str, list[Json]]

    @classmethod
    def of(cls, oracle: Path) -> Material:
        """Asks the oracle at this path."""
        with Answerer([str(oracle)]) as asked:
            info = _answer(asked, {"op": "info"})
            locations = (info["region"], info["region_non_zonal"])
            types = {place: _answer(asked, {"op": "instance_types", "location": place}) for place in locations}
            eastus = _answer(asked, {"op": "instance_types", "location": "eastus", "sku_json": read_json(EASTUS)})
        sample = sorted(random.Random(60).sample(eastus, 60), key=lambda item: str(item["name"]))
        return cls(
            release=info["release"].removeprefix("v"),
            core=info["core"].removeprefix("v"),
            data=_printed(oracle, "data"),
            crds=_printed(oracle, "crds"),
            types=types,
            catalogs={"recorded": types[locations[0]], "eastus60": sample, MANY: _multiplied(sample)},
        )

    @property
    def has_trusted_launch(self) -> bool:
        """Whether an AKSNodeClass can ask for Trusted Launch."""
        return any("trustedLaunch" in json.dumps(crd) for crd in self.crds)

    @property
    def takes_attach_limits(self) -> bool:
        """Whether instance types can have attach limits."""
        return takes_attach_limits(self.release)

    @property
    def has_default_spread(self) -> bool:
        """`--scheduler-config` can name constraints for pods that have none."""
        return rules_of(provider(self.release).core).default_spread

    @property
    def has_overlays(self) -> bool:
        """Whether the release has NodeOverlays."""
        return has_extension(self.release, "overlays")

    @cached_property
    def schemas(self) -> Schemas:
        """OpenAPI schemas by (apiVersion, kind)."""
        return schemas_of(self.crds)

    @cached_property
    def records(self) -> dict[str, list[Json]]:
        """SKU records by location."""
        return {place: location["skus"] for place, location in self.data["locations"].items()}

    @cached_property
    def zone_names(self) -> dict[str, list[str]]:
        """Zones that the offerings of each catalog have."""
        return {
            name: sorted({zone for item in types for zone in _zones(item)}) for name, types in self.catalogs.items()
        }

    def catalog_requests(self) -> list[Json]:
        """The requests that register the catalogs, those of `schedule` cases and of disruption."""
        known = {**self.catalogs, **disruption_catalogs()}
        return [{"op": "catalog", "name": name, "instance_types": types} for name, types in known.items()]


def read_json(path: Path) -> Any:
    """The content of a gzipped JSON file."""
    with gzip.open(path, "rt") as file:
        return json.load(file)


def write_gzip(path: Path, text: str) -> None:
    """The same text always gives the same bytes."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=9) as file:
        file.write(text.encode())


def _multiplied(types: Sequence[Json]) -> list[Json]:
    """More sizes than a launch may name, many of the same price, so that the order of equal ones shows."""
    return [
        {
            **item,
            "name": f"{item['name']}_copy{number:02d}",
            "requirements": [
                {**each, "values": [f"{item['name']}_copy{number:02d}"]} if each["key"] == _SIZE else each
                for each in item["requirements"]
            ],
        }
        for item in types
        for number in range(_COPIES)
    ]


def _zones(instance_type: Json) -> list[str]:
    key = "topology.kubernetes.io/zone"
    return [value for item in instance_type["requirements"] if item["key"] == key for value in item["values"]]


def _answer(asked: Answerer, request: Json) -> Any:
    reply = asked.ask_one(request)
    if "answer" not in reply:
        raise RuntimeError(f"{asked.command[0]}: {request['op']}: {json.dumps(reply)[:300]}")
    return reply["answer"]


def _printed(oracle: Path, command: str) -> Any:
    return json.loads(subprocess.run([str(oracle), command], capture_output=True, check=True).stdout)
