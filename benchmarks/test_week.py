"""A week of a cluster passes in seconds. Prints what it took."""

from __future__ import annotations

import os

import pytest

from benchmarks.week import week

NODES = tuple(int(each) for each in os.environ.get("WEEKS", "100").split(","))
"""WEEKS=100,1000: a week for each of these numbers of nodes; a thousand nodes take many minutes."""


@pytest.mark.parametrize("nodes", NODES)
def test_a_week(nodes: int, capsys: pytest.CaptureFixture[str]) -> None:
    told = week(nodes)
    with capsys.disabled():
        print(f"\na week of {told['nodes']} nodes and {told['pods']} pods: {told['cpu_seconds']} CPU s, {told}")
    assert told["pods"] == 10 * nodes
    assert {"Underutilized", "Drifted"} <= told["decisions"].keys()
    assert told["nodes_at_the_end"] <= told["nodes"]
