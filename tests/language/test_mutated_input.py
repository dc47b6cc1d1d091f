"""Eighty broken inputs, drawn by a seed: values of other types, absent and doubled fields, odd numbers and letters, broken text.

Whatever the files hold, a command ends with an answer, or with exit code 2 and a line with its place for each mistake.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import testing
from harness.testing import requirement
from tests.cli.command import call

COMMANDS = (("explain",), ("simulate",), ("validate",), ("upgrade-check", "--from", "1.6.5", "--to", "1.14.0"))
CASES = 20
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        10**30,
        1.5,
        float("inf"),
        float("nan"),
        "",
        "x",
        "é☃𝔘",
        "a" * 300,
        [],
        {},
        [None],
        [{}],
        [[]],
        {"a": None},
    ),
    *(
        {"x": {"y": [1]}},
        "1e400",
        "9" * 25 + "Gi",
        "-5",
        "0x10",
        "$(X)",
        "*",
        "2020-01-01",
        "~",
        "=",
        "<<",
        "a: b",
        "Never",
        "100%",
        "-1h",
    ),
)
INSERTED = (
    "{",
    "}",
    "[",
    ":",
    "- ",
    "&a ",
    "*a",
    "!!python/object:x ",
    '"',
    "|",
    "---\n",
    "...\n",
    "\u2028",
    "\x07",
    "@",
    "`",
    " <<: *x",
    "\t",
    "\u202e",
)
PLACE = re.compile(r"\S.*:\d+:\d+: ")


def objects() -> list[dict[str, Any]]:
    """A NodePool, its AKSNodeClass, workloads and a disk, with most of what can be said of them."""
    spread = {
        "maxSkew": 1,
        "minDomains": 2,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
    }
    selector = {"matchLabels": {"app": "web"}}
    anti = {
        "weight": 5,
        "podAffinityTerm": {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": selector,
            "namespaceSelector": {},
        },
    }
    pool = testing.nodepool(
        requirement("karpenter.sh/capacity-type", "on-demand", "spot"),
        {**requirement("karpenter.azure.com/sku-family", "D", "E"), "minValues": 2},
        labels={"team": "blue"},
        taints=[{"key": "t", "value": "v", "effect": "NoSchedule"}],
        limits={"cpu": "100"},
    )
    pool["spec"] |= {
        "weight": 10,
        "disruption": {
            "consolidateAfter": "30s",
            "budgets": [{"nodes": "10%", "schedule": "0 9 * * *", "duration": "8h"}],
        },
    }
    return [
        testing.nodeclass(
            imageFamily="Ubuntu", osDiskSizeGB=128, maxPods=50, kubelet={"cpuManagerPolicy": "static"}, tags={"a": "b"}
        ),
        pool,
        testing.deployment(
            "web",
            2,
            tolerations=[{"key": "t", "operator": "Exists"}],
            topologySpreadConstraints=[{**spread, "labelSelector": selector}],
            affinity={"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [anti]}},
            volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
        ),
        testing.daemonset("agent", tolerations=[{"operator": "Exists"}]),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "disk",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "disk"},
            "provisioner": "disk.csi.azure.com",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
    ]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from paths(each, (*path, key))


def mutated(found: list[dict[str, Any]], chance: random.Random) -> str:
    """The objects with a field or three replaced, taken away, doubled or moved."""
    found = copy.deepcopy(found)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        *above, last = chance.choice(list(paths(found)))
        holder: Any = found
        for key in above:
            holder = holder[key]
        match chance.randrange(5):
            case 0:
                del holder[last]
            case 1 if isinstance(holder, dict):
                holder[chance.choice((f"{last}x", "é", 1, None, True, "", str(last).upper()))] = holder[last]
            case _:
                holder[last] = chance.choice(VALUES)
    return yaml.safe_dump_all(found, allow_unicode=True, sort_keys=False)


def broken(text: str, chance: random.Random) -> str:
    """The text with other line breaks, a mark of the byte order, an end too soon, a line or a letter too many."""
    at = chance.randrange(len(text))
    lines = text.split("\n")
    line = chance.randrange(len(lines))
    doubled = "\n".join([*lines[: line + 1], *lines[line:]])
    inserted = text[:at] + chance.choice(INSERTED) + text[at:]
    return chance.choice(
        (text.replace("\n", "\r\n"), f"\ufeff{text}", text[:at], doubled, inserted, inserted, text.replace("\n", "\r"))
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_broken_input_is_a_mistake_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(command[0])
    ends = set()
    for _ in range(CASES):
        text = mutated(objects(), chance) if chance.random() < 0.75 else broken(yaml.safe_dump_all(objects()), chance)
        (tmp_path / "all.yaml").write_bytes(text.encode())
        code, out, err = call(capsys, *command, "all.yaml")
        ends.add(code)
        assert code in (0, 1, 2), text
        assert "Traceback" not in out + err, text
        if code == 2:
            assert err, text
            assert all(PLACE.match(line) for line in err.splitlines()), (text, err)
    assert 2 in ends
