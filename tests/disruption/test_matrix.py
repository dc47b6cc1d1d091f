"""The scenarios of how nodes leave show every decision, policy and form of budget, and every sentence by which Karpenter keeps a node."""

from __future__ import annotations

import pytest

from tests.disruption.matrix import budget_forms, decisions, is_told, policies, sentences

METHODS = {
    "Emptiness": "Empty",
    "StaticDrift": "Drifted",
    "Drift": "Drifted",
    "MultiNodeConsolidation": "Underutilized",
    "SingleNodeConsolidation": "Underutilized",
}
DECISIONS = {
    "Emptiness": ("delete",),
    "StaticDrift": ("replace",),
    "Drift": ("delete", "replace"),
    "MultiNodeConsolidation": ("delete", "replace"),
    "SingleNodeConsolidation": ("delete", "replace"),
}
CONSOLIDATES = {
    "WhenEmpty": {"Emptiness"},
    "WhenEmptyOrUnderutilized": {"Emptiness", "MultiNodeConsolidation", "SingleNodeConsolidation"},
    "Balanced": {"Emptiness", "MultiNodeConsolidation", "SingleNodeConsolidation"},
    "Never": set(),
}

#: beginnings of sentences that no scenario can bring about, and why
ELSEWHERE = {
    "invalid value for IntOrString": "the CRD refuses such a number of nodes; tests/disruption/test_methods.py",
    "getting drift, ": "the op lifetimes; a provider that cannot tell makes no event",
    "removing taint from nodes, ": "a write that the API server refuses; tests/disruption/test_world.py",
    "tainting nodes, ": "a write that the API server refuses; tests/disruption/test_world.py",
    "marking disrupted": "a write that the API server refuses; tests/disruption/test_world.py",
    "creating scheduler, tracking topology counts, ": "a selector that no API server takes; the op disrupt",
    "validating consolidation, ": "the same within 15 seconds; the op disrupt",
    "simluating scheduling, candidate is deleting": "a candidate is none any more when it is deleted",
    "; creating node claim, ": "joins what is told of several replacements",
    "disrupting candidates, ": "a part of what is told of a replacement that is refused",
    "how core ": "for programmers",
    "disrupting via reason=": "release 1.4.0; tests/disruption/test_queue.py",
    " (command-id: ": "release 1.4.0, where a mark frees what limits would refuse; tests/disruption/test_queue.py",
    "static NodePool is at its node limit": "release next only; tests/disruption/test_methods.py",
    " nor registered": "release next only; tests/disruption/test_methods.py",
}


def test_every_method_decides_all_that_it_can() -> None:
    shown = {(method, reason, decision) for method, reason, decision in decisions()}
    wanted = {(method, METHODS[method], each) for method, made in DECISIONS.items() for each in made}
    assert wanted <= shown, sorted(wanted - shown)


@pytest.mark.parametrize("policy", CONSOLIDATES)
def test_a_policy_lets_nodes_go_by_its_methods_only(policy: str) -> None:
    shown = policies()
    gone = {method for each, method, goes in shown if each == policy and goes and method in METHODS}
    assert gone == {*CONSOLIDATES[policy], "Drift", *({"StaticDrift"} & gone)}
    if policy != "WhenEmptyOrUnderutilized":
        assert any(each == policy and not goes for each, _, goes in shown), "what it keeps is not shown"


@pytest.mark.parametrize("form", ["number", "share", "default", "several", "reasons", "days", "window"])
@pytest.mark.parametrize("method", METHODS)
def test_a_budget_of_each_form_holds_for_each_method(method: str, form: str) -> None:
    shown = budget_forms()
    held = (form, method, False) in shown  # as two of three do where one alone makes no command
    assert (form, method, True) in shown or held


@pytest.mark.parametrize("form", ["nothing", "macro", "window"])
@pytest.mark.parametrize("reason", sorted(set(METHODS.values())))
def test_a_budget_of_nothing_is_told_for_each_reason(reason: str, form: str) -> None:
    assert (form, reason, False) in budget_forms()


def test_every_sentence_is_told_in_a_scenario() -> None:
    missing = [
        str(said)
        for said in sentences()
        if not is_told(said)
        and said.module not in ("schedules", "churn")  # test_schedules.py, test_churn.py
        and not any(part.startswith(begin) for begin in ELSEWHERE for part in said.parts)
    ]
    assert not missing, "\n".join(missing)
