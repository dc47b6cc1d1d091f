"""Records what the API server and Karpenter say to a NodePool that requires a key of the seed tables, as scenarios of one release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.conformance.recorded_file import write_recording
from tests.conformance.recorder import MODELINE, NODECLASS, Recorder, seed_keys

__all__ = ["write_recorded_refusals"]

Json = dict[str, Any]

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "rejected"


def write_recorded_refusals(recorder: Recorder, date: str) -> Path:
    """Writes the scenario file of one release. Returns its path."""
    refused: list[Json] = []
    accepted: list[Json] = []
    for keys in seed_keys().values():
        for key in keys:
            nodepool = recorder.nodepool_object()
            nodepool["spec"]["template"]["spec"]["requirements"].append({"key": key, "operator": "Exists"})
            verdicts = _verdicts(recorder, nodepool)
            case: Json = {"case": key, "values": {"key": key}}
            if verdicts:
                first, *more = verdicts
                case["values"] |= first
                if more:
                    case["then"] = [{"rejected": {"object": "NodePool/default", **each}} for each in more]
            (refused if verdicts else accepted).append(case)
    source = f"recorded on {date} from karpenter-provider-azure v{recorder.release} by `make record-labels`"
    given = {"karpenter": recorder.release}
    documents: list[Json] = [
        {
            "scenario": "keys that a NodePool may not require",
            "description": "Who refuses the key, with which text. The API server speaks first; Karpenter only of what it let pass.",
            "source": source,
            "tags": ["seed", "admission"],
            "given": given,
            "cases": refused,
            "then": [
                {
                    "rejected": {
                        "object": "NodePool/default",
                        "layer": "$(layer)",
                        "key": "$(key)",
                        "message": {"contains": "$(message)"},
                    }
                }
            ],
        },
        *_manifests(recorder),
        {
            "scenario": "keys that a NodePool may require",
            "source": source,
            "tags": ["seed", "admission"],
            "given": given,
            "cases": accepted,
            "then": [{"accepted": {"object": "NodePool/default"}}],
        },
        *_manifests(recorder),
    ]
    return write_recording(
        SCENARIOS / f"required-keys-{recorder.release}.yaml",
        MODELINE + yaml.dump_all(documents, Dumper=_Cases, sort_keys=False, width=1_000_000),
    )


def _verdicts(recorder: Recorder, nodepool: Json) -> list[Json]:
    """Layers and what they say, up to the lists of all allowed keys; the API server may say several things."""
    answer = recorder.answer({"op": "validate_nodepool", "object": nodepool})
    errors = (answer.get("crd") or {}).get("errors") or []
    if errors:
        return [{"layer": "crd-cel", "message": error["detail"]} for error in errors]
    runtime = (answer.get("runtime") or {}).get("error")
    if runtime:
        return [{"layer": "nodepool-runtime", "message": runtime.split("; specify")[0].split(" in requirements")[0]}]
    return []


def _manifests(recorder: Recorder) -> list[Json]:
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"].append({"key": "$(key)", "operator": "Exists"})
    return [{"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", **NODECLASS}, nodepool]


class _Cases(yaml.SafeDumper):
    """One line for each case."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        return super().represent_mapping(tag, mapping, bool({"case", "operator", "key"} & set(mapping)) or flow_style)
