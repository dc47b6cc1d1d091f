"""Inputs of an op beside its request."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease
    from harness.karpenter.validation.admission import Crds

__all__ = ["AnswerContext", "DataFile"]


class DataFile(Mapping[str, Any]):
    """A JSON file (plain or ``.gz``) with ``locations.LOCATION.{skus, prices, spot_prices}``, read when first looked into.

    Raises OSError when it cannot be read and ValueError when it is not a JSON object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _content(self) -> dict[str, Any]:
        with (
            gzip.open(self.path, "rt", encoding="utf-8")
            if self.path.suffix == ".gz"
            else self.path.open(encoding="utf-8") as file
        ):
            content = json.load(file)
        if not isinstance(content, dict):
            raise ValueError(f"{self.path} is not a JSON object")
        return content

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)


@dataclass(slots=True)
class AnswerContext:
    """The release that answers, the SKU lists and prices that requests name by location, and the registered catalogs.

    `catalogs` (name → list of instance types) is the protocol's only state: the op `catalog` writes it, `schedule` reads it.
    `parsed` holds what ops derive from `data` once, by their own keys; it changes no answer. `crds` are
    CRDs that were given in place of the release's.
    """

    release: ProviderRelease
    data: Mapping[str, Any] | None = None
    catalogs: dict[str, Any] = field(default_factory=dict)
    parsed: dict[str, Any] = field(default_factory=dict)
    crds: Crds | None = None
