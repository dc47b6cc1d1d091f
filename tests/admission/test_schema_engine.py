"""The schema engine: pruning, defaults, error types and texts. Texts without another source are the real API server library's."""

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.karpenter.validation import UnknownResource, admit, crd_set
from harness.kube.api.field_errors import go_syntax, json_float, print_float
from harness.kube.api.objects import is_mapping
from harness.kube.custom_resources.admission import api_server
from harness.kube.custom_resources.schema import SchemaError, parse_schema, prepare
from harness.kube.custom_resources.schema_validation import validate
from tests.admission.objects import Object, changed, nodeclass, nodepool

CRDS = crd_set("1.14.0")
SPEC = ("spec", "template", "spec")
UNCHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)

TEXTS: list[tuple[Object, list[str]]] = [
    (
        nodepool(of_pool={"weight": "x"}),
        ['spec.weight: Invalid value: "string": spec.weight in body must be of type integer: "string"', UNCHECKED],
    ),
    (
        nodepool(of_pool={"weight": 1e30}),
        [
            'spec.weight: Invalid value: "number": spec.weight in body must be of type integer: "number"',
            "spec.weight: Invalid value: 1e+30: spec.weight in body should be less than or equal to 100",
            UNCHECKED,
        ],
    ),
    (nodepool(of_pool={"weight": 3.0}), []),
    (
        nodepool(of_pool={"limits": {"cpu": 1.5}}),
        [
            '<nil>: Invalid value: "": "spec.limits.cpu" must validate at least one schema (anyOf)',
            'spec.limits.cpu: Invalid value: "number": spec.limits.cpu in body must be of type integer,string: "number"',
            'spec.limits.cpu: Invalid value: "number": spec.limits.cpu in body must be of type integer: "number"',
            UNCHECKED,
        ],
    ),
    (
        changed(nodepool(), *SPEC, "nodeClassRef", "name", to=None),
        ["spec.template.spec.nodeClassRef.name: Required value", UNCHECKED],
    ),
    (
        nodepool(taints=[{"key": "a", "effect": "NoSchedule", "timeAdded": 5}]),
        [
            'spec.template.spec.taints[0].timeAdded: Invalid value: "int64": spec.template.spec.taints[0].timeAdded in body '
            'must be of type date-time: "int64"',
            UNCHECKED,
        ],
    ),
    (
        nodepool(labels={"a": "x" * 64}),
        ["spec.template.metadata.labels.a: Too long: may not be more than 63 bytes", UNCHECKED],
    ),
    (
        nodepool(labels={f"k{n}": "x" for n in range(101)}),
        ["spec.template.metadata.labels: Too many: 101: must have at most 100 items", UNCHECKED],
    ),
    (
        nodepool(of_pool={"disruption": {"consolidateAfter": "0s", "budgets": [{"reasons": ["Empty", "Empty"]}]}}),
        ['spec.disruption.budgets[0].reasons[1]: Duplicate value: "Empty"'],
    ),
    (
        changed(nodepool(), "metadata", to={"name": "Bad_"}),
        [
            'metadata.name: Invalid value: "Bad_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric '
            "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
            r"validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
    ),
]


@pytest.mark.parametrize(("obj", "texts"), TEXTS)
def test_texts(obj: Object, texts: list[str]) -> None:
    assert [str(error) for error in admit(obj, crds=CRDS).errors] == texts


def test_several_errors_make_one_message() -> None:
    admission = admit(nodepool(of_pool={"weight": 0}, expireAfter="1x"), crds=CRDS)
    assert admission.message.startswith(
        'NodePool.karpenter.sh "neg" is invalid: [spec.template.spec.expireAfter: Invalid'
    )
    assert admission.message.endswith(
        "spec.weight: Invalid value: 0: spec.weight in body should be greater than or equal to 1]"
    )


def test_pattern_errors_do_not_keep_rules_from_running() -> None:
    texts = [str(error) for error in admit(nodepool(expireAfter="1x", labels={"agentpool": "x"}), crds=CRDS).errors]
    assert len(texts) == 2
    assert texts[1] == 'spec.template.metadata.labels: Invalid value: label "agentpool" is restricted'


def test_prunes_and_defaults() -> None:
    obj = nodepool(unknown={"a": 1}, of_pool={"weight": None, "disruption": {"consolidateAfter": "5m"}})
    assert admit(obj, crds=CRDS).object["spec"] == {
        "disruption": {
            "budgets": [{"nodes": "10%"}],
            "consolidateAfter": "5m",
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
        },
        "template": {
            "spec": {
                "expireAfter": "720h",
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [],
            }
        },
    }
    assert "unknown" in obj["spec"]["template"]["spec"], "what the user gave stays as it is"


def test_takes_any_mapping() -> None:
    obj = MappingProxyType({**nodepool(), "metadata": MappingProxyType({"name": "neg"})})
    assert admit(obj, crds=CRDS).accepted


def test_a_kind_without_definition() -> None:
    with pytest.raises(UnknownResource, match=r"no CRD for karpenter.sh/v1 Nope in 1\.14\.0"):
        admit({"apiVersion": "karpenter.sh/v1", "kind": "Nope"}, crds=CRDS)


@pytest.mark.parametrize(
    ("kubernetes", "text"),
    [
        ("1.36.3", "spec.template.metadata.labels: Invalid value: label"),
        ("v1.35.4", "spec.template.metadata.labels: Invalid value: label"),
        ("1.34.0", 'spec.template.metadata.labels: Invalid value: "object": label'),
        ("1.30", 'spec.template.metadata.labels: Invalid value: "object": label'),
    ],
)
def test_older_servers_print_the_type_of_what_a_rule_refuses(kubernetes: str, text: str) -> None:
    (error,) = admit(nodepool(labels={"agentpool": "x"}), crds=CRDS, kubernetes=kubernetes).errors
    assert str(error).startswith(text)


def test_versions_of_the_server() -> None:
    weight = nodepool(of_pool={"weight": [1]})
    assert "Invalid value: null: some" in str(admit(weight, crds=CRDS, kubernetes="1.34").errors[-1])
    assert 'Invalid value: "null": some' in str(admit(weight, crds=CRDS, kubernetes="1.33").errors[-1])
    policy = nodepool(of_pool={"disruption": {"consolidateAfter": "0s", "consolidationPolicy": [1, {"a": None}]}})
    printed = [str(error) for error in admit(policy, crds=CRDS, kubernetes="1.33").errors]
    assert any("Unsupported value: []interface {}{1, map[string]interface {}{}}:" in t for t in printed)
    assert go_syntax({"b": None, "a": [1.5, "x"]}) == (
        'map[string]interface {}{"a":[]interface {}{1.5, "x"}, "b":interface {}(nil)}'
    )
    with pytest.raises(ValueError, match=r"'latest' is not a version such as 1\.34\.0"):
        api_server("latest")


@pytest.mark.parametrize(
    ("kubernetes", "event", "both"),
    [
        (
            "1.33",
            'v1.OwnerReference{APIVersion:"v1", Kind:"Event", Name:"e", UID:"u", Controller:(*bool)(nil), '
            "BlockOwnerDeletion:(*bool)(nil)}",
            '[{"apiVersion":"v1","kind":"Node","name":"a","uid":"1","controller":true},'
            '{"apiVersion":"v1","kind":"Node","name":"b","uid":"2","controller":true}]',
        ),
        (
            "1.34",
            '{"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}',
            '[{"apiVersion":"v1","kind":"Node","name":"a","uid":"1","controller":true},'
            '{"apiVersion":"v1","kind":"Node","name":"b","uid":"2","controller":true}]',
        ),
    ],
)
def test_owners_that_are_refused(kubernetes: str, event: str, both: str) -> None:
    def refused(*owners: Object) -> list[str]:
        pool = changed(nodepool(), "metadata", to={"name": "neg", "ownerReferences": list(owners)})
        return [str(error) for error in admit(pool, crds=CRDS, kubernetes=kubernetes).errors]

    assert refused({"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}) == [
        f"metadata.ownerReferences: Invalid value: {event}: /v1, Kind=Event is disallowed from being an owner"
    ]
    a, b = ({"apiVersion": "v1", "kind": "Node", "name": n, "uid": u, "controller": True} for n, u in ("a1", "b2"))
    assert refused(a, b) == [
        f"metadata.ownerReferences: Invalid value: {both}: Only one reference can have Controller set to true. "
        'Found "true" in references for Node/a and Node/b'
    ]


def test_integers_have_the_range_of_their_format_since_1_36() -> None:
    huge = nodeclass(maxPods=1 << 40)
    texts = {v: [str(e) for e in admit(huge, crds=CRDS, kubernetes=v).errors] for v in ("1.35.0", "1.36.0")}
    checked = '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.maxPods'
    assert checked in texts["1.36.0"]
    assert [text for text in texts["1.36.0"] if text != checked] == texts["1.35.0"]


def test_combinations_of_schemas() -> None:
    schema = parse_schema(
        {
            "type": "object",
            "properties": {
                "one": {"oneOf": [{"type": "string"}, {"maxLength": 3}]},
                "all": {"allOf": [{"minimum": 2}, {"maximum": 5, "exclusiveMaximum": True}], "type": "integer"},
                "not": {"not": {"enum": ["x"]}, "type": "string"},
                "list": {
                    "type": "array",
                    "items": {"type": "integer", "multipleOf": 2},
                    "minItems": 2,
                    "uniqueItems": True,
                },
            },
            "minProperties": 1,
        }
    )
    assert [e.detail for e in validate(schema, {"one": "abcd", "all": 3, "not": "y", "list": [2, 4]})] == []
    assert sorted(e.detail for e in validate(schema, {"one": "abc", "all": 5, "not": "x", "list": [3]})) == [
        '"all" must validate all the schemas (allOf)',
        '"not" must not validate the schema (not)',
        '"one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
        "all in body should be less than 5",
        "list in body should have at least 2 items",
        "list[0] in body should be a multiple of 2",
    ]
    assert [e.detail for e in validate(schema, {"list": [2, 2]})] == ["list in body shouldn't contain duplicates"]
    assert [e.detail for e in validate(schema, {"list": ["x", 2]})] == [
        'list[0] in body must be of type integer: "string"'
    ]
    assert len(validate(schema, {})) == 1


def test_unknown_keywords_are_refused_not_ignored() -> None:
    with pytest.raises(SchemaError, match="spec: keyword patternProperties is not supported"):
        parse_schema({"type": "object", "properties": {"spec": {"patternProperties": {}}}})


def test_unknown_fields_can_be_kept() -> None:
    definition = {
        "type": "object",
        "properties": {
            "free": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {"known": {"type": "string", "default": "x"}},
            },
            "items": {"type": "array", "items": {"type": "string", "default": "y"}},
        },
    }
    obj = {"free": {"other": {"a": None}}, "items": ["a", None], "gone": 1}
    assert prepare(obj, parse_schema(definition)) == {
        "free": {"other": {"a": None}, "known": "x"},
        "items": ["a", "y"],
    }


def test_a_pattern_is_go_s() -> None:
    """And judged where the schema is read, below `allOf`, too."""
    schema = parse_schema({"type": "string", "pattern": r"(?i)^\d+k$"})
    assert schema.matches is not None
    assert [schema.matches(text) for text in ("4k", "4\u212a", "\u0664k", "4k\n")] == [True, True, False, False]
    with pytest.raises(SchemaError, match=r"schema: pattern: .*missing closing \)"):
        parse_schema({"type": "string", "allOf": [{"pattern": "("}]})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        (100.0, "100"),
        (123456.0, "123456"),
        (1e6, "1e+06"),
        (20.5e6, "2.05e+07"),
        (9223372036854775808.0, "9.223372036854776e+18"),
        (-0.0001, "-0.0001"),
        (1e-5, "1e-05"),
    ],
)
def test_floats(value: float, text: str) -> None:
    assert print_float(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-123456789.0, "-123456789"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (2.5e-10, "2.5e-10"),
    ],
)
def test_floats_in_json(value: float, text: str) -> None:
    """As Go's encoding/json writes them: without an exponent from 1e-6 up to 1e21."""
    assert json_float(value) == text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, True),
        (MappingProxyType({}), True),
        ([], False),
        ((), False),
        ("a", False),
        (None, False),
        (1.5, False),
        (object(), False),
    ],
)
def test_what_is_an_object(value: object, expected: bool) -> None:
    assert is_mapping(value) is expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 200) | st.sampled_from(["", "x", "In", "10%", "1h", "karpenter.sh/x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["key", "operator", "values", "a"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(place=st.sampled_from(["requirements", "taints", "nodeClassRef", "expireAfter"]), value=JSON)
def test_anything_gets_an_answer_and_storing_is_stable(place: str, value: Any) -> None:
    first = admit(nodepool(**{place: value}), crds=CRDS)
    again = admit(first.object, crds=CRDS)
    assert again.object == first.object
    assert [str(e) for e in again.errors] == [str(e) for e in first.errors]
    assert admit(first.object, old=first.object, crds=CRDS).object == first.object
