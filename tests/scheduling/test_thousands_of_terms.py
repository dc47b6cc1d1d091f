"""Pods with thousands of terms, and thousands of workloads that look at each other: the work grows as they do, and no faster.

What took the square of their number, or its cube, would not end for 10,000.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harness.karpenter.releases import provider
from harness.karpenter.scheduling import SchedulingOptions
from harness.karpenter.scheduling.nodeclaims import pod_fitter
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.topology import cluster as topology_cluster
from harness.karpenter.scheduling.topology.group import TopologyGroup
from harness.kube.scheduling.pods import HostPort
from tests.scheduling import workload
from tests.scheduling.workload import HOST, ZONE, affinity, error, groups, need, node, pod, run, spread

MANY = 10_000
Pods = list[dict[str, Any]]


def node_affinity(required: Any = (), preferred: Any = ()) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if required:
        terms = [{"matchExpressions": each} for each in required]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if preferred:
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": 1 + place % 100, "preference": {"matchExpressions": each}}
            for place, each in enumerate(preferred)
        ]
    return {"affinity": {"nodeAffinity": found}}


def pod_affinity(kind: str, keys: list[str], *, preferred: bool) -> dict[str, Any]:
    """A term for each key, each about other pods, which do not exist."""
    terms = [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": f"other{i}"}}} for i, key in enumerate(keys)]
    if preferred:
        weighted = [{"weight": 1 + i % 100, "podAffinityTerm": term} for i, term in enumerate(terms)]
        return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def the_last_never(kind: str, number: int) -> dict[str, Any]:
    """Preferences that can be met and are given up first, and one that cannot and is given up last."""
    terms = [
        {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": f"k{i}", "operator": "Exists"}]}}
        for i in range(number)
    ]
    if kind == "podAffinity":
        for term in terms:
            term["labelSelector"]["matchExpressions"][0]["operator"] = "DoesNotExist"  # type: ignore[index]
    weighted = [{"weight": 100, "podAffinityTerm": term} for term in terms]
    weighted.append({"weight": 1, "podAffinityTerm": {"topologyKey": "zzz", "labelSelector": {}}})
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}}


def keys(number: int) -> list[str]:
    return [f"key{i}" for i in range(number)]


def chain(number: int, kind: str, key: str, *, preferred: bool = False) -> Pods:
    """Workloads each of which looks at the next."""
    return [
        pod(f"p{i}", labels={"app": f"a{i}"}, **affinity(kind, key, f"a{i + 1}", preferred=preferred))
        for i in range(number)
    ]


def one(**fields: Any) -> Pods:
    return [pod("a", labels={"app": "x", "version": "1"}, **fields)]


SHAPES: dict[str, Callable[[int], Pods]] = {
    "spread anyway over as many keys": lambda n: one(
        topologySpreadConstraints=[spread(key, "x", when="ScheduleAnyway") for key in keys(n)]
    ),
    "with matchLabelKeys": lambda n: one(
        topologySpreadConstraints=[
            spread(key, "x", when="ScheduleAnyway", matchLabelKeys=["version"]) for key in keys(n)
        ]
    ),
    "required spread": lambda n: one(topologySpreadConstraints=[spread(ZONE, f"x{i}") for i in range(n)]),
    "preferred affinity": lambda n: one(**pod_affinity("podAffinity", [ZONE] * n, preferred=True)),
    "preferred anti-affinity": lambda n: one(**pod_affinity("podAntiAffinity", keys(n), preferred=True)),
    "required affinity": lambda n: one(**pod_affinity("podAffinity", [ZONE] * n, preferred=False)),
    "required anti-affinity": lambda n: one(**pod_affinity("podAntiAffinity", [HOST] * n, preferred=False)),
    "preferred affinity, the last never met": lambda n: one(**the_last_never("podAffinity", n)),
    "preferred anti-affinity, the last never met": lambda n: one(**the_last_never("podAntiAffinity", n)),
    "node affinity terms beside a spread": lambda n: one(
        **node_affinity([[need("nowhere", "In", key)] for key in keys(n)]),
        topologySpreadConstraints=[spread(ZONE, "x")],
    ),
    "node affinity terms beside a spread and affinities": lambda n: one(
        affinity={
            **node_affinity([[need("nowhere", "In", key)] for key in keys(n)])["affinity"],
            **pod_affinity("podAffinity", keys(n), preferred=False)["affinity"],
        },
        topologySpreadConstraints=[spread(ZONE, "x")],
    ),
    "preferred node affinity terms": lambda n: one(
        **node_affinity(preferred=[[need("nowhere", "In", key)] for key in keys(n)])
    ),
    "as many nodes, none of which may be joined": lambda n: [
        *(
            pod(f"a{i}", labels={"app": "a"}, nodeSelector={ZONE: "z1"}, **affinity("podAntiAffinity", HOST, "a"))
            for i in range(n)
        ),
        *(pod(f"b{i}", labels={"app": f"b{i}"}, **affinity("podAffinity", ZONE, f"nobody{i}")) for i in range(n)),
    ],
    "host ports": lambda n: [
        pod(name, ports=[{"containerPort": i, "hostPort": i, "protocol": "TCP"} for i in range(start, start + n)])
        for name, start in (("a", 1), ("b", 1 + n))
    ],
    "a chain of affinity": lambda n: chain(n, "podAffinity", ZONE),
    "a chain of preferred affinity": lambda n: chain(n, "podAffinity", ZONE, preferred=True),
    "a chain of anti-affinity": lambda n: chain(n, "podAntiAffinity", "no.such/key"),
}


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often the parts are called of which a simulation's work consists."""
    found: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            found[name] += 1
            return original(*args, **kwargs)

        patch.setattr(owner, name, wrapped)

    with monkeypatch.context() as patch:
        count(topology_cluster, "group_identity")
        count(TopologyGroup, "next_domains")
        count(TopologyGroup, "selects")
        count(HostPort, "conflicts")
        count(PodShape, "like")
        count(pod_fitter, "untolerated")
        yield found


@pytest.mark.parametrize("release", ["1.14.0", "1.4.0"])
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_as_many_are_twice_the_work(shape: str, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "RELEASE", provider(release))
    work = []
    for number in (100, 200):
        with counted(monkeypatch) as found:
            run(SHAPES[shape](number))
        work.append(sum(found.values()))
    assert work[1] <= 2.2 * work[0] + 20


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (pod_affinity("podAffinity", [ZONE] * MANY, preferred=True), None),
        (pod_affinity("podAntiAffinity", [HOST] * MANY, preferred=False), None),
        (pod_affinity("podAffinity", keys(MANY), preferred=False), "unsatisfiable topology constraint"),
        ({"tolerations": [{"key": key, "operator": "Exists"} for key in keys(MANY)]}, None),
        ({"nodeSelector": dict.fromkeys(keys(MANY), "x")}, 'incompatible requirements, label "key0"'),
        ({"volumes": [{"name": key, "emptyDir": {}} for key in keys(MANY)]}, None),
        (node_affinity([[need(key, "NotIn", "x") for key in keys(MANY)]]), None),
        ({"labels": dict.fromkeys(keys(MANY), "x")}, None),
        ({"containers": [{"name": key, "resources": {"requests": {"cpu": "100u"}}} for key in keys(MANY)]}, None),
    ],
)
def test_ten_thousand_of_one_thing(fields: dict[str, Any], sentence: str | None) -> None:
    results = run([pod("a", **fields)], nodes=[node("full", "0")])
    text = error(results, "a")
    if sentence is None:
        assert (text, groups(results)) == (None, [["a"]])
    else:
        assert text is not None
        assert text.startswith(sentence)


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_preferences_are_given_up_in_order_until_the_last_that_cannot_be_met(kind: str) -> None:
    """A time limit in attempts tells how many it takes: as many as there are preferences, and one."""
    number, options = 300, {"attempt_seconds": 1.0}
    pods = one(**the_last_never(kind, number))
    short = run(pods, options=SchedulingOptions(time_limit=number + 1.0, **options))
    assert (short.timed_out, groups(short)) == (True, [])
    enough = run(pods, options=SchedulingOptions(time_limit=number + 2.0, **options))
    assert (enough.timed_out, groups(enough)) == (False, [["a"]])
