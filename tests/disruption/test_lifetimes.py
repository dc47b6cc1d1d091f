"""How single NodeClaims and Nodes come to their end: conditions, expiration, repair."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.clock import SECOND, parse
from harness.karpenter.disruption.conditions import Judged, with_conditions
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.lifecycle.nodeclaims.expiration import expires_in
from harness.karpenter.lifecycle.nodes.repair import Repair, repair_of
from harness.karpenter.releases import provider
from harness.karpenter.releases.core import CORE_RELEASES
from harness.karpenter.releases.disruption import disruption_rules_of

Json = dict[str, Any]
NOW = parse("2026-01-07T10:30:00Z")
MINUTE = 60 * SECOND
DEADLINE = "karpenter.sh/nodeclaim-termination-timestamp"
POLICIES = provider("1.14.0").repair_policies


def ago(minutes: float) -> str:
    return f"2026-01-07T{10 + int(30 - minutes) // 60:02}:{int(30 - minutes) % 60:02}:00Z"


def claim(pool: str | None = "pool", **spec: Any) -> Json:
    ref = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    conditions = [
        {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": ago(10)}
        for kind in ("Launched", "Registered", "Initialized")
    ]
    return {
        "metadata": {
            "name": "claim",
            "labels": {} if pool is None else {"karpenter.sh/nodepool": pool},
            "creationTimestamp": ago(20),
        },
        "spec": {"nodeClassRef": ref, **spec},
        "status": {"providerID": "azure:///vm", "conditions": conditions},
    }


def node(name: str = "node", pool: str = "pool", **statuses: tuple[str, float]) -> Json:
    """A Node whose conditions have had their status for some minutes."""
    conditions = [
        {"type": kind.replace("_", "/"), "status": status, "lastTransitionTime": ago(minutes)}
        for kind, (status, minutes) in {"Ready": ("True", 20), **statuses}.items()
    ]
    return {"metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool}}, "status": {"conditions": conditions}}


def judged(found: str | Exception, after: str = "15m", release: str = "1.14.0", **pool: Any) -> Judged:
    def provider_drift(_: Any) -> str:
        if isinstance(found, Exception):
            raise found
        return found

    known = provider(release)
    rules = disruption_rules_of(known.core)
    nodepool = {"metadata": {"name": "pool"}, "spec": {"disruption": {"consolidateAfter": after}, **pool}}
    return with_conditions(claim(), nodepool, (), provider_drift, now=NOW, release=known, rules=rules)


def kinds(made: Judged) -> set[str]:
    return {each["type"] for each in made.nodeclaim["status"]["conditions"]} & {"Consolidatable", "Drifted"}


def test_conditions_are_looked_at_again_when_drift_is_or_sooner_when_the_node_has_settled() -> None:
    assert judged("").again == 5 * MINUTE
    assert judged("", after="12m").again == 2 * MINUTE
    settled = judged("ImageDrift", after="10m")
    assert (settled.again, kinds(settled)) == (5 * MINUTE, {"Consolidatable", "Drifted"})


def test_an_error_of_the_provider_leaves_consolidation_alone_and_is_told() -> None:
    made = judged(CloudProviderError("no such machine"), after="0s")
    assert (made.error, made.again, kinds(made)) == ("getting drift, no such machine", None, {"Consolidatable"})


def test_an_instance_that_is_gone_is_no_error() -> None:
    made = judged(InstanceNotFound("gone"), after="12m")
    assert (made.error, made.again) == ("", 2 * MINUTE)


def test_static_nodepools_are_never_consolidated() -> None:
    assert kinds(judged("ImageDrift", after="0s", replicas=1)) == {"Drifted"}
    assert kinds(judged("ImageDrift", "0s", "1.7.2", replicas=1)) == {"Consolidatable", "Drifted"}


@pytest.mark.parametrize(
    ("after", "left"), [("Never", None), (None, None), ("20m", 0), ("3m", 0), ("21m", MINUTE), ("24h", 1420 * MINUTE)]
)
def test_expiration_counts_from_creation(after: str | None, left: int | None) -> None:
    assert expires_in(claim(expireAfter=after), NOW) == left


def test_what_goes_away_already_does_not_expire() -> None:
    going = claim(expireAfter="3m")
    going["metadata"]["deletionTimestamp"] = ago(1)
    assert expires_in(going, NOW) is None
    foreign = claim(expireAfter="3m", nodeClassRef={"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"})
    assert expires_in(foreign, NOW) is None


def repaired(bad: Json, others: int = 0, of: Json | None = None) -> Repair:
    nodes = [bad, *(node(f"other-{number}") for number in range(others))]
    return repair_of(bad, of or claim(), nodes, POLICIES, NOW)


def test_a_healthy_node_is_left_alone() -> None:
    assert repaired(node()) == repaired(node(MemoryPressure=("True", 30))) == Repair()


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_that_is_not_ready_has_ten_minutes(status: str) -> None:
    assert repaired(node(Ready=(status, 9))) == Repair(again=MINUTE)
    assert repaired(node(Ready=(status, 10))) == Repair(deletes=True, deadline="2026-01-07T10:30:00Z")


def test_the_condition_whose_time_is_up_first_counts() -> None:
    assert repaired(node(Ready=("False", 1), PreemptionScheduled=("True", 0))).deletes


def test_a_fifth_rounded_up_may_be_unhealthy() -> None:
    bad, young = node(Ready=("False", 20)), node("young", Ready=("Unknown", 1))
    held = "more than 20% nodes are unhealthy in the nodepool"
    four = [node(f"n{number}") for number in range(4)]
    assert repair_of(bad, claim(), [bad, *four], POLICIES, NOW).deletes
    assert repair_of(bad, claim(), [bad, young, *four[:3]], POLICIES, NOW) == Repair(again=5 * MINUTE, held=held)
    assert repair_of(bad, claim(), [bad, young, *four], POLICIES, NOW).deletes  # two of six
    sick = [node(f"s{number}", Ready=("Unknown", 1)) for number in range(20)]
    well = [node(f"n{number}") for number in range(80)]
    assert repair_of(bad, claim(), [bad, *sick, *well], POLICIES, NOW).deletes  # 21 of 101
    assert repair_of(bad, claim(), [bad, *sick, *well[1:]], POLICIES, NOW).held == held  # 21 of 100


def test_a_condition_that_does_not_say_since_when_is_as_old_as_can_be() -> None:
    bad = node(Ready=("False", 0))
    del bad["status"]["conditions"][0]["lastTransitionTime"]
    assert repaired(bad).deletes


def test_nodes_of_other_nodepools_count_for_standalone_claims_only() -> None:
    bad = node(Ready=("False", 20))
    others = [node(f"n{number}", pool="other", Ready=("False", 20)) for number in range(3)]
    assert repair_of(bad, claim(), [bad, *others], POLICIES, NOW).deletes
    standalone = repair_of(bad, claim(pool=None), [bad, *others], POLICIES, NOW)
    assert standalone.held == "more then 20% nodes are unhealthy in the cluster"


@pytest.mark.parametrize(
    ("before", "deadline"),
    [
        (ago(5), None),
        ("2026-01-07T10:40:00Z", "2026-01-07T10:30:00Z"),
        ("2026-01-07T10:30:00Z", "2026-01-07T10:30:00Z"),  # over is what lies before now
        ("soon", "2026-01-07T10:30:00Z"),
    ],
)
def test_repair_gives_pods_no_time_unless_theirs_is_over(before: str, deadline: str | None) -> None:
    found = claim()
    found["metadata"]["annotations"] = {DEADLINE: before}
    assert repaired(node(Ready=("False", 20)), of=found) == Repair(deletes=True, deadline=deadline)


def test_a_claim_that_goes_away_is_not_deleted_again() -> None:
    going = claim()
    going["metadata"]["deletionTimestamp"] = ago(1)
    assert not repaired(node(Ready=("False", 20)), of=going).deletes


def test_which_conditions_are_past_help_by_release() -> None:
    def known(release: str) -> list[str]:
        return [each.condition for each in provider(release).repair_policies]

    ready = ["Ready", "Ready"]
    assert known("1.4.0") == known("1.7.2") == ready
    assert known("1.10.0") == known("1.12.2") == [*ready, "kubernetes.azure.com/NodeHealthy"]
    assert known("1.13.0") == known("1.14.2") == [*ready, "kubernetes.azure.com/NodeHealthy", "PreemptionScheduled"]


def test_until_core_1_6_a_held_repair_was_not_looked_at_again() -> None:
    again = {version: core.held_repair_looks_again for version, core in CORE_RELEASES.items()}
    assert not any(again[version] for version in ("1.4.0", "1.5.0", "1.6.1", "1.6.2"))
    assert all(again[version] for version in ("1.7.1", "1.10.0", "1.14.0"))
