"""Which pods kube-scheduler counts for terms of pod (anti-)affinity and topology spread constraints; what it says of taints.

Sources: kubernetes staging/src/k8s.io/kube-scheduler/framework/types.go (AffinityTerm.Matches, getNamespacesFromPodAffinityTerm),
pkg/scheduler/framework/plugins/interpodaffinity/filtering.go (updateWithAffinityTerms, satisfyPodAffinity),
pkg/scheduler/framework/plugins/podtopologyspread/common.go (countPodsMatchSelector).
"""

from typing import Any

import pytest

from harness.kube.api.versions import Version
from harness.kube.scheduling.filters import Failure, Filters
from harness.kube.scheduling.node_affinity import named_nodes, term_matches
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.scheduler import Unschedulable, schedule
from harness.kube.scheduling.volume_binding import PodVolumes
from harness.testing import pod, requirement

NAMESPACES = [
    {"metadata": {"name": "own", "labels": {}}},
    {"metadata": {"name": "blue", "labels": {"team": "shop"}}},
    {"metadata": {"name": "red", "labels": {"team": "news"}}},
]
NODE = {
    "metadata": {"name": "a", "labels": {"zone": "1"}},
    "spec": {},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
SHOP = {"matchLabels": {"team": "shop"}}
NOBODY = {"matchLabels": {"team": "nobody"}}


def pod_in(namespace: str, labels: dict[str, str], affinity: dict[str, Any] | None = None) -> dict[str, Any]:
    made = pod(f"in-{namespace}", "", "", namespace=namespace, labels=labels, affinity=affinity or {})
    return {**made, "metadata": {**made["metadata"], "uid": namespace}}


def terms(kind: str, app: str, **where: Any) -> dict[str, Any]:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}, **where}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


WHERE: list[tuple[dict[str, Any], str, bool]] = [
    ({}, "own", True),
    ({}, "blue", False),
    ({"namespaces": ["blue"]}, "blue", True),
    ({"namespaces": ["blue"]}, "own", False),
    ({"namespaceSelector": SHOP}, "blue", True),
    ({"namespaceSelector": SHOP}, "red", False),
    ({"namespaceSelector": SHOP}, "own", False),
    ({"namespaceSelector": SHOP, "namespaces": ["red"]}, "red", True),
    ({"namespaceSelector": NOBODY}, "own", False),
    ({"namespaceSelector": {}}, "red", True),
]


@pytest.mark.parametrize(("where", "namespace", "found"), WHERE)
def test_affinity(where: dict[str, Any], namespace: str, found: bool) -> None:
    node = NodeInfo(NODE, [pod_in(namespace, {"app": "cache"})])
    asking = pod_in("own", {}, terms("podAffinity", "cache", **where))
    assert isinstance(schedule(asking, [node], namespaces=NAMESPACES), str) is found


@pytest.mark.parametrize(("where", "namespace", "found"), WHERE)
def test_anti_affinity_of_the_pod_and_of_the_one_that_runs(where: dict[str, Any], namespace: str, found: bool) -> None:
    apart = terms("podAntiAffinity", "cache", **where)
    node = NodeInfo(NODE, [pod_in(namespace, {"app": "cache"})])
    asked = schedule(pod_in("own", {}, apart), [node], namespaces=NAMESPACES)
    repelled = NodeInfo(NODE, [pod_in("own", {}, apart)])
    refused = schedule(pod_in(namespace, {"app": "cache"}), [repelled], namespaces=NAMESPACES)
    assert [isinstance(each, Unschedulable) for each in (asked, refused)] == [found, found]


def both(*apps: str) -> dict[str, Any]:
    required = [
        terms("podAffinity", app)["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0] for app in apps
    ]
    required[-1] = {**required[-1], "labelSelector": {"matchLabels": {apps[-1]: "yes"}}}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


@pytest.mark.parametrize(
    ("there", "own", "fits"),
    [
        ([{"app": "cache"}, {"db": "yes"}], {}, False),  # no pod matches both terms
        ([{"app": "cache", "db": "yes"}], {}, True),
        ([{"app": "cache", "db": "yes"}], {"app": "cache", "db": "yes"}, True),
        ([{"app": "cache"}, {"db": "yes"}], {"app": "cache", "db": "yes"}, True),  # the first of its kind
        ([], {"app": "cache", "db": "yes"}, True),
        ([], {"app": "cache"}, False),
    ],
)
def test_a_pod_has_to_match_all_affinity_terms(there: list[dict[str, str]], own: dict[str, str], fits: bool) -> None:
    node = NodeInfo(NODE, [pod_in("own", labels) for labels in there])
    found = schedule(pod_in("own", own, both("cache", "db")), [node], namespaces=NAMESPACES)
    assert isinstance(found, str) is fits


@pytest.mark.parametrize(
    ("selector", "fits"),
    [({"matchLabels": {"app": "cache"}}, {"b"}), ({}, {"a", "b"}), (None, {"a", "b"})],
    ids=["selects", "empty", "none"],
)
def test_a_spread_constraint_without_conditions_counts_nobody(selector: dict[str, Any] | None, fits: set[str]) -> None:
    other = {**NODE, "metadata": {"name": "b", "labels": {"zone": "2"}}}
    nodes = [NodeInfo(NODE, [pod_in("own", {"app": "cache"}) for _ in range(3)]), NodeInfo(other)]
    constraint = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    asking = pod_in("own", {"app": "cache"})
    asking["spec"]["topologySpreadConstraints"] = [
        constraint if selector is None else {**constraint, "labelSelector": selector}
    ]
    filters = Filters.for_pod(asking, nodes)
    assert {info.name for info in nodes if filters.failure(info) is None} == fits


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.33.6", "1 node(s) had untolerated taint {a: }, 1 node(s) had untolerated taint {b: x}"),
        ("1.34.0", "1 node(s) had untolerated taint {a: }, 1 node(s) had untolerated taint {b: x}"),
        ("1.34.2", "2 node(s) had untolerated taint(s)"),
        ("1.36.3", "2 node(s) had untolerated taint(s)"),
    ],
)
def test_since_1_34_2_the_sentence_names_no_taints(version: str, said: str) -> None:
    taints = ({"key": "a", "effect": "NoSchedule"}, {"key": "b", "value": "x", "effect": "NoSchedule"})
    nodes = [NodeInfo({"metadata": {"name": taint["key"]}, "spec": {"taints": [taint]}}) for taint in taints]
    verdict = schedule(pod_in("own", {}), nodes, version=Version.parse(version))
    assert isinstance(verdict, Unschedulable)
    assert verdict.message.startswith(f"0/2 nodes are available: {said}. ")


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.32.0", "node(s) didn't match Pod's node affinity/selector"),
        ("1.33.0", "node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    ],
)
def test_nodes_that_a_pod_of_a_daemonset_leaves_out_by_their_names(version: str, said: str) -> None:
    other = {**NODE, "metadata": {"name": "b", "labels": {}}}
    fields = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [fields]}]}
    asking = pod("p", "8", "", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
    found = schedule(asking, [NodeInfo(NODE), NodeInfo(other)], version=Version.parse(version))
    assert isinstance(found, Unschedulable)
    assert found.message.startswith(f"0/2 nodes are available: 1 Insufficient cpu, 1 {said}. ")


def required(*fields: dict[str, Any]) -> dict[str, Any]:
    """A node affinity whose terms have one of these fields each."""
    found = {"nodeSelectorTerms": [{"matchFields": [each]} for each in fields]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": found}}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ([requirement("metadata.name", "a")], {"a"}),
        ([requirement("metadata.name", "a"), requirement("metadata.name", "b")], {"a", "b"}),
        ([requirement("metadata.name", "a", operator="NotIn")], None),
        ([requirement("metadata.name", "a"), requirement("metadata.name", "a", operator="NotIn")], None),
        ([requirement("metadata.uid", "a")], None),
    ],
)
def test_a_pod_names_its_nodes_by_terms_that_want_one_of_some_names(
    fields: list[dict[str, Any]], named: set[str] | None
) -> None:
    """nodeaffinity/node_affinity.go PreFilter: other terms may take any node."""
    assert named_nodes(pod(affinity=required(*fields))) == named


CLAIMS = "no new claims to deallocate, "


@pytest.mark.parametrize(("version", "claims"), [("1.33.6", ""), ("1.34.0", CLAIMS), ("1.35.0", CLAIMS)])
def test_since_1_34_the_plugin_for_claims_of_devices_says_what_it_finds(version: str, claims: str) -> None:
    full = NodeInfo(NODE, [pod_in("own", {})])
    for asking, why in (
        (pod("p", "4", "9Gi", preemptionPolicy="Never"), "not eligible due to preemptionPolicy=Never."),
        (pod("p", "4", "9Gi"), "0/1 nodes are available: 1 Preemption is not helpful for scheduling."),
    ):
        found = schedule(asking, [full], version=Version.parse(version))
        assert isinstance(found, Unschedulable)
        assert found.message == f"0/1 nodes are available: 1 Insufficient memory. {claims}preemption: {why}"


@pytest.mark.parametrize(
    ("version", "more"),
    [
        ("1.33.6", "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."),
        ("1.34.0", "not found"),
        ("1.35.0", "not found"),
    ],
)
def test_a_claim_that_is_missing_keeps_a_pod_from_every_node(version: str, more: str) -> None:
    volumes = PodVolumes('persistentvolumeclaim "data" not found')
    found = schedule(pod("p"), [NodeInfo(NODE)], volumes=volumes, version=Version.parse(version))
    assert isinstance(found, Unschedulable)
    assert found.failures == (Failure("a", (), True),)
    assert found.message == f'0/1 nodes are available: persistentvolumeclaim "data" not found. {more}'


@pytest.mark.parametrize(("key", "expected"), [("cores", True), ("disks", False), ("team", False)])
def test_a_label_that_a_node_lacks_or_that_is_no_number_is_not_greater_than_a_number(key: str, expected: bool) -> None:
    node = {"metadata": {"name": "a", "labels": {"cores": "8", "team": "eight"}}}
    assert term_matches({"matchExpressions": [{"key": key, "operator": "Gt", "values": ["4"]}]}, node) is expected
