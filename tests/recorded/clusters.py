"""Machines of users' clusters, as `harness reality --facts` writes them: each fact beside the same machine, launched here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from harness import World
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.quantity import Quantity
from harness.reality.facts import ABSENT, State, facts_of
from harness.reality.rules import compared, memory_bound
from harness.reality.sharing import mistakes
from harness.testing import nodeclass, nodepool, pod, requirement
from tests.recorded.rows import FOLDER, Row

CLUSTERS = FOLDER / "clusters.yaml"
_LABELS = {"size": INSTANCE_TYPE, "zone": ZONE, "priority": CAPACITY_TYPE}
_OPTIONS = {"plugin": "network_plugin", "pluginMode": "network_plugin_mode", "dataplane": "network_dataplane"}
_GIB = 1 << 30


def entries_of(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a facts file. Raises ValueError with a line for each mistake."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: {str(error).splitlines()[0]}") from None
    if not isinstance(value, list):
        raise ValueError(f"{path}: a list of machines is expected, as harness reality --facts writes it")
    wrong = [f"{path}: entry {number}: {text}" for number, entry in enumerate(value, 1) for text in mistakes(entry)]
    if wrong:
        raise ValueError("\n".join(wrong))
    return value


def take(path: Path, into: Path = CLUSTERS) -> int:
    """Add the entries of a facts file to those that are recorded, each once. Return how many are new. Raises ValueError."""
    before = entries_of(into) if into.exists() else []
    new = [entry for entry in entries_of(path) if entry not in before]
    if new:
        text = yaml.safe_dump([*before, *new], sort_keys=False, width=120)
        into.write_text(f"# Taken by `python -m tests.recorded --take FILE`.\n{text}", encoding="utf-8")
    return len(new)


def cluster_rows(path: Path = CLUSTERS) -> Iterator[Row]:
    """Yield every fact of every machine of a user's cluster."""
    for entry in entries_of(path) if path.exists() else ():
        machine = _launched(entry)
        ours = {} if isinstance(machine, str) else {field: value for field, value, _ in facts_of(machine)}
        name = f"{entry['size']}, {entry.get('date', 'no date')}"
        gib = _gib(ours)
        for field, recorded in entry["facts"].items():
            state, why, _ = compared(field, recorded, ours.get(field), gib)
            bound = memory_bound(gib) if field.endswith(".memory") else 0.0
            reason = machine if isinstance(machine, str) else why if state is State.INCOMPARABLE else ""
            yield Row(
                entry["where"], name, f"{entry['kind']} {field}", recorded, ours.get(field, ABSENT), bound, reason
            )


def _gib(facts: Mapping[str, str]) -> float:
    return Quantity.parse(facts.get("capacity.memory", "0")).value() / _GIB


def _launched(entry: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """Return the Node or NodeClaim of such a machine, or why there is none."""
    options = {option: entry[word] for word, option in _OPTIONS.items() if word in entry}
    world = World(
        karpenter=entry["release"],
        region=entry["region"],
        kubernetes=entry["kubernetes"],
        provision_mode=entry.get("mode"),
        options=options,
    )
    wanted = [requirement(key, entry[word]) for word, key in _LABELS.items() if word in entry]
    world.apply(nodeclass(**entry.get("nodeclass", {})), nodepool(*wanted), pod("twin", cpu="1m"))
    world.settle()
    return next(iter(world.list(entry["kind"])), "the simulation launches no such machine")
