"""Records what the real Go code does with every label key of the seed tables, as table-shaped scenarios of one release.

For each key: a NodePool that sets it (the release's CRDs and RuntimeValidate), a pod that asks for it (the real Provisioner, then the
provider's launch, then the Provisioner again with the Node that came of it), and the labels that a plain launch hands to the kubelet
and that registration copies.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.karpenter.releases import ProvisionMode, provider
from tests.conformance.build import Oracle
from tests.conformance.processes import Answerer
from tests.conformance.recorded_file import write_recording
from tests.conformance.recorder import MACHINE_API, MODELINE, NODECLASS, SCRIPTLESS, Recorder, seed_keys

__all__ = ["record_labels", "write_recorded"]

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "labels"


def record_labels(oracles: Iterable[Oracle]) -> Iterator[Path]:
    """Writes the scenario file of every oracle's release, yielding its path."""
    from tests.conformance.recorded_claims import write_recorded_claims
    from tests.conformance.recorded_refusals import write_recorded_refusals
    from tests.conformance.recorded_sizes import write_recorded_sizes

    today = datetime.date.today().isoformat()
    for oracle in oracles:
        with Answerer([str(oracle.path)]) as answerer:
            info = answerer.ask_one({"op": "info"})["answer"]
            kubernetes = provider(oracle.release).defaults.kubernetes
            regions = [Recorder(answerer, oracle.release, info[name], kubernetes) for name in _REGIONS]
            yield write_recorded_refusals(regions[0], today)
            yield write_recorded_claims(regions[0], regions[1], today)
            yield write_recorded_sizes(regions[0], regions[1], today)
            yield write_recorded(
                [
                    Recorder(answerer, oracle.release, info["region"], kubernetes, mode)
                    for mode in (SCRIPTLESS, MACHINE_API)
                    if mode == SCRIPTLESS or _has_machine_api(oracle.release)
                ],
                today,
            )


_REGIONS = ("region", "region_non_zonal")


def _has_machine_api(release: str) -> bool:
    return ProvisionMode.AKS_MACHINE_API in provider(release).provision_modes


def write_recorded(recorders: Sequence[Recorder], date: str) -> Path:
    """Writes the scenario file of one release; every recorder is one provision mode of it. Returns its path."""
    first = recorders[0]
    tables = seed_keys()
    documents: list[Any] = []
    for recorder in recorders:
        for pinned in (False, True):
            if not pinned and recorder is not first:
                continue  # who may ask and set does not depend on how machines are made
            rows = {name: (recorder.written(keys) if pinned else recorder.table(keys)) for name, keys in tables.items()}
            source = f"recorded on {date} from karpenter-provider-azure v{recorder.release} by `make record-labels`"
            what = "labels of a Node, and who wrote them" if pinned else "keys that pods ask for and NodePools set"
            documents.append(
                {
                    "scenario": f"{what} ({recorder.mode})" if pinned else what,
                    "description": _DESCRIPTIONS[pinned],
                    "source": source,
                    "tags": ["seed"],
                    "given": {
                        "karpenter": recorder.release,
                        "kubernetes": recorder.kubernetes,
                        "region": recorder.region,
                        "provisionMode": recorder.mode,
                    },
                    "then": [
                        {"labels": {"source": _SOURCES[name], "are": table}} for name, table in rows.items() if table
                    ],
                }
            )
            documents.append({"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", **NODECLASS})
            documents.append(recorder.nodepool_object(pinned=pinned))
    return write_recording(
        SCENARIOS / f"keys-{first.release}.yaml",
        MODELINE + _plain(yaml.dump_all(documents, Dumper=_Rows, sort_keys=False, width=1_000_000)),
    )


def _plain(text: str) -> str:
    """Scenario files read `yes` and `no` as text: they need no quotes."""
    return text.replace("'yes'", "yes").replace("'no'", "no")


_DESCRIPTIONS = {
    False: "pod: what becomes of a pod that asks for the key when the NodePool does not set it. nodepool: may a NodePool set the label?",
    True: "written: is the label on a Node when nobody asked for it; who wrote that value first.",
}
_SOURCES = {
    "aks": "design document of 2025-11-07, table of AKS labels",
    "karpenter": "design document of 2025-11-07, table of Karpenter labels",
    "prose": "design documents, keys that only their prose names",
    "releases": "keys that came after the design documents",
}


class _Rows(yaml.SafeDumper):
    """One line for each row of a table."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        cells = {"pod", "nodepool", "written"}
        row = isinstance(mapping, Mapping) and bool(cells & set(mapping))
        requirement = isinstance(mapping, Mapping) and "operator" in mapping
        return super().represent_mapping(tag, mapping, True if row or requirement else flow_style)
