"""When the conditions of a NodeClaim are looked at: what wakes their controller, and the look at all of them every five minutes."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from harness.conformance.ops.catalog import instance_types
from harness.engine.clock import SECOND, Clock, parse
from harness.engine.engine import Result, Wait
from harness.engine.ports import Change, ChangeType
from harness.karpenter.disruption.nodeclaims import NodeClaimConditions
from harness.karpenter.lifecycle.instance_provider import CloudProviderError
from harness.karpenter.releases.disruption import disruption_rules_of
from tests.disruption.fleet import RELEASE, SIZES, Json, machine, nodepool

HOUR = 3600
TYPES = instance_types(SIZES, RELEASE.vocabulary)
BEGIN = "2026-01-07T10:00:00Z"


@dataclass
class Cluster:
    """A NodePool and its NodeClaims, and what the controller asks for and writes; the provider says why they have drifted."""

    claims: list[Json]
    pool: Json = field(default_factory=nodepool)
    machines: int = 0
    """What Azure says of them; another number is another answer."""
    why: str | CloudProviderError = ""
    asked: list[str] = field(default_factory=list)
    logged: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.clock.advance_to(parse(BEGIN))
        observer: Any = SimpleNamespace(cluster=self, types=lambda pool: TYPES)
        types: Any = SimpleNamespace(release=RELEASE, version=lambda: 0)
        azure: Any = SimpleNamespace(states=lambda: self.machines)
        of_provider: Any = SimpleNamespace(reason=self.reason)
        us: Any = self
        rules = disruption_rules_of(RELEASE.core)
        self.controller = NodeClaimConditions(observer, us, us, self.clock, types, of_provider, azure, rules)

    def get(self, kind: str, name: str) -> Json | None:
        found = {"NodePool": [self.pool], "NodeClaim": self.claims}.get(kind, ())
        return next((each for each in found if each["metadata"]["name"] == name), None)

    def list(self, kind: str) -> list[Json]:
        return {"NodePool": [self.pool], "NodeClaim": self.claims}[kind]

    def indexed(self, index: str, value: str) -> list[Json]:
        return [each for each in self.claims if each["status"]["providerID"] == value]

    def patch(self, kind: str, name: str, patch: Json, *, subresource: str) -> None:
        pass

    def log(self, level: str, controller: str, message: str, **values: Any) -> None:
        self.logged.append(values)

    def reason(self, claim: Json) -> str:
        self.asked.append(claim["metadata"]["name"])
        if isinstance(self.why, CloudProviderError):
            raise self.why
        return self.why

    def see(self, type: ChangeType, kind: str, new: Json, old: Json | None = None) -> list[Any]:
        return list(self.controller.watches()[kind](Change(type, new, old, 1)))

    def sweep(self, after: float) -> list[str]:
        """Who is asked about in a look at all, so many seconds later."""
        self.clock.advance_to(self.clock.now + round(after * SECOND))
        self.asked.clear()
        assert self.controller.reconcile("sweep") == Result(300.0, Wait.ALARM)
        return self.asked


def claims(*ages: float) -> list[Json]:
    """NodeClaims that are so many seconds old at the beginning."""
    made = []
    for name, age in zip("abc", ages, strict=False):
        _, claim = machine(name)
        claim["metadata"]["creationTimestamp"] = f"2026-01-07T{10 - int(age) // HOUR:02}:00:00Z"
        made.append(claim)
    return made


def changed(object: Json, **parts: Any) -> Json:
    return {**object, **parts}


def test_all_are_looked_at_when_azure_has_changed_and_nobody_else() -> None:
    """Azure sends no event; upstream looks at each again after five minutes (core pkg/controllers/nodeclaim/disruption/drift.go)."""
    cluster = Cluster(claims(2 * HOUR, 2 * HOUR))
    assert cluster.sweep(0) == ["claim-a", "claim-b"]
    assert cluster.sweep(300) == []
    cluster.machines += 1
    assert cluster.sweep(300) == ["claim-a", "claim-b"]
    assert cluster.sweep(300) == []


def test_whoever_comes_to_the_age_of_an_hour_is_looked_at_once() -> None:
    """Core isInstanceTypeNotFound: only of NodeClaims that are older than an hour."""
    cluster = Cluster(claims(0, 2 * HOUR))
    first = [cluster.see(ChangeType.ADDED, "NodeClaim", each) for each in cluster.claims]
    assert first == [["sweep", ("claim-a",)], [("claim-b",)]]
    assert cluster.sweep(0) == ["claim-a", "claim-b"]
    assert cluster.sweep(HOUR) == []
    assert cluster.sweep(1) == ["claim-a"]
    assert cluster.sweep(300) == []


def test_whoever_is_gone_is_not_looked_at() -> None:
    cluster = Cluster(claims(0))
    (claim,) = cluster.claims
    cluster.see(ChangeType.ADDED, "NodeClaim", claim)
    cluster.sweep(0)
    assert cluster.see(ChangeType.DELETED, "NodeClaim", claim, claim) == []
    cluster.claims.clear()
    assert cluster.sweep(2 * HOUR) == []


@pytest.mark.parametrize(
    ("type", "provider_id", "woken"),
    [
        (ChangeType.ADDED, "azure:///a", [("claim-a",)]),
        (ChangeType.ADDED, "azure:///other", []),
        (ChangeType.ADDED, None, []),
        (ChangeType.MODIFIED, "azure:///a", []),
        (ChangeType.DELETED, "azure:///a", []),
    ],
)
def test_a_new_node_brings_the_version_by_which_drift_is_judged(
    type: ChangeType, provider_id: str | None, woken: list[Any]
) -> None:
    node, _ = machine("a")
    node["spec"]["providerID"] = provider_id
    assert Cluster(claims(0)).see(type, "Node", node, node) == woken


@pytest.mark.parametrize(
    ("parts", "woken"),
    [
        ({"status": {"resources": {"nodes": "1"}}}, []),
        ({"spec": {"weight": 1}}, [("claim-a",)]),
        ({"metadata": {"name": "pool", "annotations": {"karpenter.sh/nodepool-hash": "1"}}}, [("claim-a",)]),
        ({"metadata": {"name": "pool", "annotations": {"karpenter.sh/nodepool-hash": "0"}, "labels": {"a": "b"}}}, []),
    ],
)
def test_what_conditions_rest_on_of_a_nodepool(parts: Json, woken: list[Any]) -> None:
    cluster = Cluster(claims(0))
    cluster.pool["metadata"]["annotations"] = {"karpenter.sh/nodepool-hash": "0"}
    assert cluster.see(ChangeType.ADDED, "NodePool", cluster.pool) == [("claim-a",)]
    assert cluster.see(ChangeType.MODIFIED, "NodePool", changed(cluster.pool, **parts), cluster.pool) == woken
    assert cluster.see(ChangeType.MODIFIED, "NodePool", {"metadata": {"name": "other"}, "spec": parts}, {}) == []


@pytest.mark.parametrize(
    ("parts", "woken"),
    [
        ({}, []),
        ({"spec": {"imageFamily": "AzureLinux"}}, [("claim-a",)]),
        ({"status": {"kubernetesVersion": "1.34.0"}}, [("claim-a",)]),
        (
            {"metadata": {"name": "default", "annotations": {"karpenter.azure.com/aksnodeclass-hash": "1"}}},
            [("claim-a",)],
        ),
        ({"metadata": {"name": "default", "labels": {"a": "b"}}}, []),
        ({"metadata": {"name": "other"}, "spec": {"imageFamily": "AzureLinux"}}, []),
    ],
)
def test_what_conditions_rest_on_of_a_nodeclass(parts: Json, woken: list[Any]) -> None:
    cluster = Cluster(claims(0))
    old = {"metadata": {"name": "default"}, "spec": {}, "status": {"images": []}}
    assert cluster.see(ChangeType.MODIFIED, "AKSNodeClass", changed(old, **parts), old) == woken


@pytest.mark.parametrize(
    ("metadata", "status", "woken"),
    [
        ({}, {}, False),
        ({"annotations": {"a": "b"}}, {}, True),
        ({"labels": {"a": "b"}}, {}, True),
        ({"finalizers": ["a"]}, {}, False),
        ({}, {"lastPodEventTime": BEGIN}, True),
        ({}, {"imageID": "/image"}, True),
        ({}, {"conditions": []}, True),
        ({}, {"nodeName": "a"}, False),
    ],
)
def test_what_conditions_rest_on_of_their_nodeclaim(metadata: Json, status: Json, woken: bool) -> None:
    cluster = Cluster(claims(0))
    (old,) = cluster.claims
    new = {**old, "metadata": {**old["metadata"], **metadata}, "status": {**old["status"], **status}}
    assert cluster.see(ChangeType.ADDED, "NodeClaim", old) == ["sweep", ("claim-a",)]
    assert cluster.see(ChangeType.MODIFIED, "NodeClaim", new, old) == ([("claim-a",)] if woken else [])


def test_where_the_provider_cannot_tell_the_wait_doubles_up_to_1000_seconds() -> None:
    """The rate limiter of client-go: 5 ms, doubled with each failure of the same NodeClaim in a row, at most 1000 s."""
    cluster = Cluster(claims(0, 0), why=CloudProviderError("no such machine"))
    waits = [cluster.controller.reconcile(("claim-a",)) for _ in range(40)]
    assert [each.after for each in waits[:5]] == pytest.approx([0.005, 0.01, 0.02, 0.04, 0.08])
    assert waits[17].after == pytest.approx(655.36)
    assert {each.after for each in waits[18:]} == {1000.0}
    assert {each.wait for each in waits} == {Wait.ALARM}
    assert cluster.logged == [{"NodeClaim": "claim-a", "error": "getting drift, no such machine"}] * 40
    assert cluster.controller.reconcile(("claim-b",)).after == pytest.approx(0.005)
    cluster.why = ""
    assert cluster.controller.reconcile(("claim-a",)).after is None
    cluster.why = CloudProviderError("no such machine")
    assert cluster.controller.reconcile(("claim-a",)).after == pytest.approx(0.005)
    cluster.see(ChangeType.DELETED, "NodeClaim", cluster.claims[1], cluster.claims[1])
    assert cluster.controller.reconcile(("claim-b",)).after == pytest.approx(0.005)
