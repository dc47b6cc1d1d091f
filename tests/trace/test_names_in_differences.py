"""A difference names the workload that it is about as all other answers do: `DaemonSet/monitoring/node-exporter`."""

from __future__ import annotations

import pytest

from harness.explain.traces.grouping import place_of

EXPORTER = "DaemonSet/monitoring/node-exporter"


@pytest.mark.parametrize(
    ("fact", "kind", "name"),
    [
        (f"pods[bound][of {EXPORTER}]", "workload", EXPORTER),
        (f"Events[Pod of {EXPORTER}][Normal Nominated: x]", "workload", EXPORTER),
        (f"decisions[of {EXPORTER}]", "workload", EXPORTER),
        ("pods[bound][shop/web]", "Pod", "shop/web"),
        ("Events[NodePool/default][Normal x: y]", "NodePool", "default"),
    ],
)
def test_the_name_is_whole(fact: str, kind: str, name: str) -> None:
    place = place_of(fact)
    assert (place.kind, place.name) == (kind, name)
