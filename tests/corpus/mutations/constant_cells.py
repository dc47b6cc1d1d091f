"""The cells of constants that stand beside the code which reads them: bounds, lists of keys, words of Azure's and their meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tests.corpus.mutations.cells import Cell

__all__ = ["CONSTANTS", "Constant", "constant_cells"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant by module and name. A bound gets the `others`; of a list or table each entry is taken away.

    `release` is one whose code reads it; of some entries another one's (`of_entries`).
    """

    module: str
    name: str
    others: tuple[Any, ...] = ()
    release: str = "1.14.0"
    of_entries: Mapping[str, str] | None = None

    @property
    def target(self) -> str:
        """The dotted name."""
        return f"{self.module}.{self.name}"


_BASE, _IMAGES = "harness.karpenter.launch.labels.base", "harness.karpenter.launch.images"
_COMPUTED, _FILTERS = "harness.karpenter.instancetypes.computed", "harness.karpenter.instancetypes.filters"
_RESTRICTION = "harness.kube.admission.node_restriction"

CONSTANTS: tuple[Constant, ...] = (
    Constant(_BASE, "_STATELESS_CNI_FROM", ((1, 33), (1, 35))),
    Constant(_BASE, "_KUBERNETES_DOMAINS"),
    Constant(_BASE, "KUBELET_LABEL_NAMESPACES"),
    Constant(_BASE, "KUBELET_LABELS"),
    Constant(_IMAGES, "_AZURE_LINUX_3_FROM", ((1, 31), (1, 33))),
    Constant(_IMAGES, "_UBUNTU_2404_FROM", ((1, 33), (1, 35))),
    Constant(_COMPUTED, "_ARCHITECTURES"),
    Constant(_COMPUTED, "_BOTH_PRIORITIES"),
    Constant(_COMPUTED, "_MODES"),
    Constant(_COMPUTED, "_MAX_LABEL", (62, 64)),
    Constant(_FILTERS, "_MIN_VCPUS", (1, 3)),
    Constant(_FILTERS, "_MIN_MEMORY_GIB", (3.0, 4.0)),
    Constant(_FILTERS, "_LOCAL_DNS_MIN_VCPUS", (3, 5)),
    Constant(_FILTERS, "_REGION", of_entries={"unknown-size": "1.10.2", "no-image-for-disk-controller": "1.10.2"}),
    Constant(_FILTERS, "_NODECLASS"),
    Constant("harness.karpenter.instancetypes.offerings", "_ZONAL_REGIONS", release="1.4.0"),
    Constant("harness.karpenter.launch.labels.node", "_MACHINE_LEFT_OUT", release="1.7.2"),
    Constant("harness.karpenter.launch.nodeclaim", "_CAPACITY_TYPES"),
    Constant("harness.karpenter.launch.nodeclaim", "_PRIORITIES"),
    Constant("harness.karpenter.labels.azure", "LEGACY", release="1.10.2"),
    Constant(_RESTRICTION, "KUBELET_LABELS"),
    Constant(_RESTRICTION, "KUBELET_LABEL_NAMESPACES"),
)


def constant_cells(version: str) -> Iterator[Cell]:
    """The constants that are changed with this release."""
    for constant in CONSTANTS:
        value = getattr(import_module(constant.module), constant.name)
        table = f"constant {constant.module.rpartition('.')[2]}.{constant.name}"
        if constant.others:
            if constant.release == version:
                for other in constant.others:
                    yield Cell(
                        version, table, constant.name, f"is {other}", patches=((constant.target, other),), vectors=True
                    )
            continue
        for entry in value:
            if (constant.of_entries or {}).get(entry, constant.release) == version:
                changed = _without(value, entry)
                yield Cell(
                    version, table, str(entry), "is missing", patches=((constant.target, changed),), vectors=True
                )


def _without(value: Any, entry: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: each for key, each in value.items() if key != entry}
    return type(value)(each for each in value if each != entry)
