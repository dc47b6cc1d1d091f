"""Updates: rules that compare with the old object, and old mistakes that stay tolerated until somebody touches them."""

from typing import Any

import pytest

from harness.karpenter.validation import admit, crd_set
from tests.admission.objects import Object, changed, exists, nodeclaim, nodeclass, nodepool

CRDS = crd_set("1.14.0")
REF = ("spec", "template", "spec", "nodeClassRef")
MODES = "Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes"


def stored(obj: Object, release: str = "1.14.0") -> Object:
    """What the API server kept of an object that it accepted."""
    admission = admit(obj, crds=crd_set(release))
    assert admission.accepted, admission.message
    return admission.object


def complaints(new: Object, old: Object, kubernetes: str = "1.35.0", subresource: str = "") -> list[str]:
    verdict = admit(new, old=old, crds=CRDS, kubernetes=kubernetes, subresource=subresource)
    return [str(error) for error in verdict.errors]


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        (
            nodepool(),
            changed(nodepool(), *REF, "group", to="example.com"),
            ["spec.template.spec.nodeClassRef: Invalid value: nodeClassRef.group is immutable"],
        ),
        (nodepool(), changed(nodepool(), *REF, "name", to="other"), []),
        (nodepool(), nodepool(of_pool={"replicas": 2}), [f"spec: Invalid value: {MODES}"]),
        (nodepool(of_pool={"replicas": 1}), nodepool(of_pool={"replicas": 2}), []),
        (nodeclaim(), nodeclaim(exists("team")), ["spec: Invalid value: spec is immutable"]),
        (nodeclaim(exists("team")), nodeclaim(exists("team")), []),
    ],
)
def test_rules_that_compare(old: Object, new: Object, texts: list[str]) -> None:
    assert complaints(new, stored(old)) == texts


def test_rules_that_compare_do_not_run_on_create() -> None:
    assert admit(nodepool(of_pool={"replicas": 2}), crds=CRDS).accepted


def test_a_forbidden_label_from_before_the_rule_stays() -> None:
    old = stored(nodepool(labels={"kubernetes.azure.com/storageprofile": "managed"}), "1.12.2")
    assert not admit(old, crds=CRDS).accepted
    heavier = changed(old, "spec", "weight", to=10)
    assert complaints(heavier, old) == []
    more = changed(heavier, "spec", "template", "metadata", "labels", "team", to="a")
    assert complaints(more, old) == [
        'spec.template.metadata.labels: Invalid value: label domain "kubernetes.azure.com" is restricted'
    ]


def test_a_forbidden_requirement_stays_only_with_its_whole_list() -> None:
    """Requirements are no list of type map, so its elements have no old value of their own."""
    old = stored(nodepool(requirements=[exists("agentpool")]), "1.12.2")
    assert complaints(changed(old, "spec", "weight", to=10), old) == []
    both = changed(old, "spec", "template", "spec", "requirements", to=[exists("agentpool"), exists("team")])
    assert complaints(both, old) == [
        'spec.template.spec.requirements[0].key: Invalid value: "agentpool": label "agentpool" is restricted'
    ]


def test_a_value_that_the_schema_no_longer_allows_stays() -> None:
    old = changed(stored(nodeclass()), "spec", "osDiskSizeGB", to=5000)
    assert complaints(changed(old, "spec", "maxPods", to=50), old) == []
    assert complaints(changed(old, "spec", "osDiskSizeGB", to=4000), old) == [
        "spec.osDiskSizeGB: Invalid value: 4000: spec.osDiskSizeGB in body should be less than or equal to 2048"
    ]


def test_a_value_of_a_wrong_type_stays_and_rules_elsewhere_still_run() -> None:
    """Tolerated errors keep no rule from running, and are no errors (registry/customresource/strategy.go, ValidateUpdate)."""
    old = changed(stored(nodepool()), "spec", "weight", to="heavy")
    limited = changed(old, "spec", "limits", to={"cpu": "10"})
    assert complaints(limited, old) == []
    labelled = changed(old, "spec", "template", "metadata", to={"labels": {"agentpool": "a"}})
    assert complaints(labelled, old) == [
        'spec.template.metadata.labels: Invalid value: label "agentpool" is restricted'
    ]
    assert complaints(changed(old, "spec", "weight", to="light"), old) == [
        'spec.weight: Invalid value: "string": spec.weight in body must be of type integer: "string"',
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation",
    ]


def test_duplicates_are_tolerated_where_there_were_some_before() -> None:
    """Any in the old object will do, and none that are new to a sound one (registry/customresource/strategy.go, ValidateUpdate)."""
    budgets = ("spec", "disruption", "budgets")
    sound = stored(nodepool(of_pool={"disruption": {"consolidateAfter": "0s", "budgets": [{"nodes": "1"}]}}))
    twice = changed(sound, *budgets, to=[{"nodes": "1", "reasons": ["Empty", "Empty"]}])
    assert complaints(changed(twice, "spec", "weight", to=10), twice) == []
    assert complaints(twice, sound) == ['spec.disruption.budgets[0].reasons[1]: Duplicate value: "Empty"']


def test_a_rule_that_cannot_be_evaluated_is_not_tolerated() -> None:
    old = changed(
        stored(nodepool()),
        *("spec", "template", "spec", "requirements"),
        to=[{"key": "team", "operator": "Gt", "values": ["many"]}],
    )
    (text,) = complaints(changed(old, "spec", "weight", to=10), old)
    assert "type conversion error from 'string' to 'int' evaluating rule" in text


def test_metadata_that_may_not_change() -> None:
    old = changed(stored(nodepool()), "metadata", to={"name": "neg", "uid": "u1"})
    new = changed(old, "metadata", to={"name": "neg", "uid": "u2"})
    assert complaints(new, old) == ['metadata.uid: Invalid value: "u2": field is immutable']
    deleted = changed(old, "metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z")
    assert complaints(changed(deleted, "metadata", "finalizers", to=["example.com/x"]), deleted) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"example.com/x"}'
    ]


@pytest.mark.parametrize(
    ("kubernetes", "subresource", "tolerated"),
    [
        ("1.29.9", "", False),
        ("1.30.0", "", True),
        ("1.36.0", "", True),
        ("1.29.9", "status", False),
        ("1.32.4", "status", False),
        ("1.33.0", "status", True),
        ("1.36.0", "status", True),
    ],
)
def test_old_mistakes_are_tolerated_since_some_version(kubernetes: str, subresource: str, tolerated: bool) -> None:
    """Feature gate CRDValidationRatcheting: on by default since 1.30, for the status since 1.33 (apiextensions-apiserver
    pkg/registry/customresource/status_strategy.go). Without it not even the status can be written."""
    old = stored(nodepool(labels={"agentpool": "a"}), "1.12.2")
    new = (
        changed(old, "status", to={"resources": {"cpu": "1"}}) if subresource else changed(old, "spec", "weight", to=7)
    )
    found = complaints(new, old, kubernetes, subresource)
    assert found == ([] if tolerated else [_AGENTPOOL])


_AGENTPOOL = 'spec.template.metadata.labels: Invalid value: "object": label "agentpool" is restricted'


def test_items_of_a_map_list_have_old_values_of_their_own() -> None:
    """Each zone of LocalDNS is correlated by its key: a mistake in one stays while another zone changes, and moves along."""
    zones = ("spec", "localDNS", "vnetDNSOverrides")
    wrong = _zone(".", serveStale="Verify", protocol="ForceTCP")
    old = changed(stored(nodeclass(localDNS=_dns(_zone("."), _zone("cluster.local")))), *zones, 0, to=wrong)
    moved = changed(old, *zones, to=[_zone("cluster.local", maxConcurrent=7), wrong])
    assert complaints(moved, old) == []
    touched = changed(moved, *zones, 1, "maxConcurrent", to=7)
    assert complaints(touched, old) == [
        "spec.localDNS.vnetDNSOverrides[1]: Invalid value: serveStale Verify cannot be used with protocol ForceTCP"
    ]


def test_a_status_may_be_taken_away() -> None:
    old = changed(stored(nodepool()), "status", to={"resources": {"cpu": "1"}})
    new = {field: value for field, value in old.items() if field != "status"}
    assert complaints(new, old, subresource="status") == []


def test_a_status_is_judged_by_its_own_schema() -> None:
    """Its texts name places inside the status; nothing about spec or metadata is said."""
    old = changed(stored(nodepool()), "spec", "weight", to=500)
    new = changed(old, "status", to={"conditions": [{"type": "Ready", "status": "Yes"}]})
    found = complaints(new, old, subresource="status")
    assert found == [
        "status.conditions[0].lastTransitionTime: Required value",
        "status.conditions[0].message: Required value",
        "status.conditions[0].reason: Required value",
        'status.conditions[0].status: Unsupported value: "Yes": supported values: "True", "False", "Unknown"',
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation",
    ]


def _zone(name: str, **fields: object) -> Object:
    zone: Object = {
        "zone": name,
        "cacheDuration": "1h",
        "forwardDestination": "VnetDNS" if name == "." else "ClusterCoreDNS",
        "forwardPolicy": "Sequential",
        "maxConcurrent": 1000,
        "protocol": "PreferUDP",
        "queryLogging": "Error",
        "serveStale": "Immediate",
        "serveStaleDuration": "1h",
    }
    return {**zone, **fields}


def _dns(*zones: Object) -> Object:
    return {"mode": "Preferred", "kubeDNSOverrides": list(zones), "vnetDNSOverrides": list(zones)}


def _condition(kind: str, **more: object) -> Object:
    texts = {
        "type": kind,
        "status": "True",
        "reason": kind,
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return {**texts, "observedGeneration": 1, **more}


@pytest.mark.parametrize("kubernetes", ["1.29.0", "1.35.0"])
@pytest.mark.parametrize(
    "status",
    [
        {"conditions": [_condition("Launched"), _condition("Registered")]},
        {"conditions": [_condition("Launched")], "providerID": "azure:///a"},
        {"conditions": [_condition("Registered", reason="no reason"), _condition("Launched")]},
        {"conditions": [_condition("Launched"), _condition("Launched", status="False")]},
        {"conditions": [_condition("Launched", unknown="x")], "unknown": {"a": 1}},
        {"conditions": [_condition("Launched")], "capacity": {"cpu": "two"}},
        {"providerID": 7},
        {},
        "ready",
        [_condition("Launched")],
        None,
        ...,
    ],
    ids=["more", "text", "bad", "twice", "unknown", "quantity", "type", "less", "no map", "list", "null", "absent"],
)
@pytest.mark.parametrize("before", [[], [_condition("Launched")], [_condition("Launched"), _condition("Launched")]])
def test_a_new_status_is_judged_alike_when_the_rest_is_known_to_be_as_before(
    status: Any, before: list[Object], kubernetes: str
) -> None:
    old = {**stored(nodeclaim()), "status": {"conditions": before} if before else {}}
    new = changed(old, "status", to=status)
    quick, whole = (
        admit(new, old=old, crds=CRDS, kubernetes=kubernetes, subresource="status", unruled=each)
        for each in (True, False)
    )
    assert quick == whole


@pytest.mark.parametrize(
    ("metadata", "sound"),
    [
        ({"labels": {"a": "b"}, "annotations": {"a": "b c"}}, True),
        ({"labels": {"a": "b c"}}, False),
        ({"annotations": {"a b": "c"}}, False),
        ({"uid": "u2"}, False),
        ({"finalizers": ["x y"]}, True),  # create alone looks at their names
    ],
)
def test_new_metadata_is_judged_alike_when_the_rest_is_known_to_be_as_before(metadata: Object, sound: bool) -> None:
    old = changed(stored(nodeclaim()), "metadata", to={"name": "neg", "uid": "u1"})
    new = changed(old, "metadata", to={"name": "neg", "uid": "u1", **metadata})
    quick, whole = (admit(new, old=old, crds=CRDS, unruled=each) for each in (True, False))
    assert quick == whole
    assert quick.accepted is sound


NAMES = "a lowercase RFC 1123 subdomain must consist of"


def test_an_update_looks_at_labels_and_not_again_at_names_and_finalizers() -> None:
    """Apimachinery ``pkg/api/validation/objectmeta.go`` ValidateObjectMetaAccessorUpdate, also for a status."""
    old = {**nodepool(), "metadata": {"name": "Bad_Name", "labels": {"a b": "x"}, "finalizers": ["a b/c"]}}
    for subresource in ("", "status"):
        texts = complaints(old, old, subresource=subresource)
        assert [text.partition(":")[0] for text in texts] == ["metadata.labels"]


def test_a_rule_reads_both_values_until_they_differ_in_size() -> None:
    """CEL cannot read an integer that came as a float; the API server tolerates it where it was there before."""
    wanted = {"key": "team", "operator": "In", "values": ["a"], "minValues": 1.0}
    old = admit(nodeclaim(wanted), crds=CRDS).object
    more = changed(old, "spec", "terminationGracePeriod", to="1h")
    misread = (
        'spec: Invalid value: "object": invalid data, expected int, got float64 evaluating rule: spec is immutable'
    )
    assert misread in complaints(old, old)
    assert "spec: Invalid value: spec is immutable" in complaints(more, old)


def test_overrides_without_a_zone_are_no_other_zone() -> None:
    """The write of a status does not ask the schema about the rest, but the rules; false wins over an error in a conjunction."""
    external = "external domains cannot be forwarded to ClusterCoreDNS from vnetDNSOverrides"
    zones = "must contain required zones '.' and 'cluster.local'"
    override = {
        "cacheDuration": "1h",
        "forwardDestination": "VnetDNS",
        "forwardPolicy": "Sequential",
        "maxConcurrent": 1000,
        "protocol": "PreferUDP",
        "queryLogging": "Log",
        "serveStale": "Verify",
        "serveStaleDuration": "1h",
    }
    overrides = [{**override, "zone": "x"}, override]
    made = nodeclass(localDNS={"mode": "Required", "vnetDNSOverrides": overrides, "kubeDNSOverrides": []})
    old = admit(made, crds=CRDS).object
    texts = complaints(old, old, subresource="status")
    assert (
        f'spec.localDNS.vnetDNSOverrides: Invalid value: "array": no such key: zone evaluating rule: {zones}' in texts
    )
    assert not [text for text in texts if external in text]
