"""Records what the real Go code computes for a few sizes, as scenarios of one release: requirements, capacity, offerings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from fakeazure.catalog import Catalogue
from tests.conformance.recorded_file import write_recording
from tests.conformance.recorder import MODELINE, NODECLASS, Recorder

__all__ = ["write_recorded_sizes"]

Json = dict[str, Any]

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "requirements"

SIZES: Mapping[str, str] = {
    "Standard_D2s_v3": "two vCPUs that every region has",
    "Standard_D2as_v6": "an AMD size of the sixth version",
    "Standard_D2_v2": "a size without premium storage, of an old version",
    "Standard_F16s_v2": "a size optimised for compute",
    "Standard_D16plds_v5": "an arm64 size",
    "Standard_NC16as_T4_v3": "a T4 size",
    "Standard_NC24ads_A100_v4": "an A100 size",
    "Standard_B20ms": "a burstable size",
}


def write_recorded_sizes(zonal: Recorder, regional: Recorder, date: str) -> Path:
    """Writes the scenario file of one release from a region with zones and from one without. Returns its path."""
    documents: list[Json] = []
    for recorder in (zonal, regional):
        types = {item["name"]: item for item in _types(recorder)}
        found = [_scenario(recorder, types[size], words, date) for size, words in SIZES.items() if size in types]
        for scenario in found:
            documents.append(scenario)
            documents.append({"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", **NODECLASS})
    return write_recording(
        SCENARIOS / f"sizes-{zonal.release}.yaml",
        MODELINE + yaml.dump_all(documents, Dumper=_Flow, sort_keys=False, width=1_000_000),
    )


def _types(recorder: Recorder) -> Sequence[Json]:
    """What the real code makes of the sizes as our catalogue lists them: zone numbers are a subscription's own."""
    records = Catalogue.load().region(recorder.region).by_name
    types: list[Json] = recorder.answer(
        {
            "op": "instance_types",
            "location": recorder.region,
            "nodeclass": NODECLASS,
            "options": recorder.options,
            "sku_json": [records[size] for size in SIZES if size in records],
        }
    )
    return types


def _scenario(recorder: Recorder, item: Json, words: str, date: str) -> Json:
    name = item["name"]
    return {
        "scenario": f"{words}, {name} in {recorder.region}",
        "source": f"recorded on {date} from karpenter-provider-azure v{recorder.release} by `make record-labels`",
        "tags": ["seed", "requirements"],
        "given": {
            "karpenter": recorder.release,
            "kubernetes": recorder.kubernetes,
            "region": recorder.region,
            "azure": {"prices": "static"},  # the recorder's controller has read no list
        },
        "then": [
            {
                "requirements": {
                    "of": name,
                    "nodeclass": "default",
                    "are": {each["key"]: _values(each) for each in _requirements(item) if each["operator"] == "In"},
                    "absent": [each["key"] for each in _requirements(item) if each["operator"] == "DoesNotExist"],
                    "capacity": item["capacity"],
                    "allocatable": item["allocatable"],
                    "offerings": _offerings(item),
                    "offeringCount": len(item["offerings"]),
                }
            }
        ],
    }


def _requirements(item: Json) -> Sequence[Json]:
    return sorted(item["requirements"], key=lambda each: str(each["key"]))


def _values(requirement: Json) -> Any:
    values = sorted(requirement["values"])
    return values[0] if len(values) == 1 else {"in": values}


def _offerings(item: Json) -> list[Json]:
    """Zone, capacity type and whether it may be chosen; what it costs is another's data."""
    offerings = []
    for offering in item["offerings"]:
        values = {each["key"]: each["values"][0] for each in offering["requirements"] if each["values"]}
        offerings.append(
            {
                "zone": values["topology.kubernetes.io/zone"],
                "capacityType": values["karpenter.sh/capacity-type"],
                "available": "true" if offering["available"] else "false",
            }
        )
    return sorted(offerings, key=lambda each: (each["zone"], each["capacityType"]))


class _Flow(yaml.SafeDumper):
    """Short maps and lists on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        return super().represent_sequence(tag, sequence, all(isinstance(each, str) for each in sequence) or None)

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        short = "zone" in mapping or "in" in mapping or "cpu" in mapping
        return super().represent_mapping(tag, mapping, True if short else flow_style)
