"""Machines of users' clusters, as `harness reality --facts` writes them: each fact beside the same machine, launched here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.kube.api.quantity import Quantity
from harness.outputs import write_text
from harness.reality.facts import ABSENT, State, facts_of
from harness.reality.machines import machine_of
from harness.reality.rules import compared, memory_bound
from harness.reality.sharing import mistakes
from tests.recorded.rows import FOLDER, Row

CLUSTERS = FOLDER / "clusters.yaml"
_GIB = 1 << 30


def entries_of(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a facts file. Raises ValueError with a line for each mistake."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ValueError(f"{path}: lists or maps stand within each other too often") from None
    if not isinstance(value, list):
        raise ValueError(f"{path}: a list of machines is expected, as harness reality --facts writes it")
    wrong = [f"{path}: entry {number}: {text}" for number, entry in enumerate(value, 1) for text in mistakes(entry)]
    if wrong:
        raise ValueError("\n".join(wrong))
    return value


def take(path: Path, into: Path = CLUSTERS) -> int:
    """Add the entries of a facts file to those that are recorded, each once. Return how many are new.

    Raises ValueError with a line for each entry of which no machine is launched; nothing is written then.
    """
    before = entries_of(into) if into.exists() else []
    new, refused = [], []
    for number, entry in enumerate(entries_of(path), 1):
        if entry in before or entry in new:
            continue
        machine = machine_of(entry)
        if isinstance(machine, str):
            refused.append(f"{path}: entry {number}: {machine}")
        new.append(entry)
    if refused:
        raise ValueError("\n".join(refused))
    if new:
        text = yaml.safe_dump([*before, *new], sort_keys=False, width=120)
        write_text(into, f"# Taken by `python -m tests.recorded --take FILE`.\n{text}")
    return len(new)


def cluster_rows(path: Path = CLUSTERS) -> Iterator[Row]:
    """Yield every fact of every machine of a user's cluster."""
    for entry in entries_of(path) if path.exists() else ():
        machine = machine_of(entry)
        ours = (
            {} if isinstance(machine, str) else {field: value for field, value, _ in facts_of(machine[entry["kind"]])}
        )
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
