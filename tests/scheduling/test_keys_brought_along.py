"""A node that says nothing about a key refuses pods that ask for it, until another pod on it asks for something about that key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduling.workload import error, groups, need, node, pod, run

WANTS = pod("wants", "800m", nodeSelector={"team": "red"})


def about(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


@pytest.mark.parametrize(
    ("expression", "admitted"),
    [
        (need("team", "NotIn", "blue"), True),
        (need("team", "NotIn", "red"), False),
        (need("team", "DoesNotExist"), False),
    ],
)
@pytest.mark.parametrize("existing", [True, False])
def test_a_key_brought_along(existing: bool, expression: dict[str, Any], admitted: bool) -> None:
    """On nodes that exist and on those in the making, as recorded in ``conformance/regressions/keys-brought-along.jsonl``."""
    pods = [pod("first", "1"), WANTS, pod("brings", "500m", **about(expression))]
    results = run(pods, nodes=[node("n1", "8")] if existing else [])
    assert (error(results, "wants") is None) is admitted
    placed = {name: len(pods) for name, pods in results.existing.items()}
    together = 3 if admitted else 2
    assert placed == ({"n1": together} if existing else {})
    assert [len(each) for each in groups(results)] == ([] if existing else [together])
