"""Dumps for the tests of `harness reality`: objects that the simulation made, and what the command says of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.testing import nodeclass, nodepool, pod
from harness.world import World

KINDS = ("AKSNodeClass", "NodePool", "NodeClaim", "Node")
RECORDED = Path(__file__).parent / "dump.yaml.gz"
"""A dump of 40 Nodes, written by hand by somebody who tried the commands."""


@cache
def _cluster() -> tuple[dict[str, Any], ...]:
    world = World(region="westeurope")
    world.apply(nodeclass(imageFamily="Ubuntu2204", tags={"team": "a"}), nodepool(), pod("web"))
    world.settle()
    return tuple(json.loads(json.dumps(obj)) for kind in KINDS for obj in world.list(kind))


def objects() -> list[dict[str, Any]]:
    """Return the objects of a small cluster, to be changed."""
    return deepcopy(list(_cluster()))


def written(folder: Path, items: Sequence[dict[str, Any]]) -> Path:
    path = folder / "dump.yaml"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items]}, indent=1), encoding="utf-8")
    return path


def dump(folder: Path, change: Callable[[dict[str, Any]], None] = lambda node: None, kind: str = "Node") -> Path:
    items = objects()
    change(next(obj for obj in items if obj["kind"] == kind))
    return written(folder, items)


def unpacked(folder: Path) -> Path:
    """Return the dump of 40 Nodes as a file."""
    path = folder / "recorded.yaml"
    path.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    return path


def asked(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    code = main(["reality", str(path), "--region", "westeurope", "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    assert "facts" in answer, answer
    return code, answer["facts"]
