"""Karpenter's own validation of NodePools and pods, and the hash. Sentences and hashes are the real Go code's."""

import pytest

from harness import testing
from harness.karpenter.releases import provider
from harness.karpenter.validation import Rejection, RejectionLayer, nodepool_hash, runtime_validate, validate_pod
from harness.karpenter.validation.decoding import decode_error
from tests.admission.objects import Object, changed, exists, nodepool

TODAY = provider("1.14.0")


def texts(rejections: tuple[Rejection, ...]) -> list[str]:
    return [rejection.text for rejection in rejections]


def requirement(key: str, operator: str, *values: str, **more: int) -> Object:
    return {**testing.requirement(key, *values, operator=operator), **more}


POOLS: list[tuple[Object, list[str]]] = [
    (nodepool(labels={"team": "a"}, requirements=[exists("kubernetes.azure.com/mode")]), []),
    (
        nodepool(labels={"karpenter.sh/nodepool": "x"}),
        ['invalid key name "karpenter.sh/nodepool" in labels, restricted'],
    ),
    (nodepool(labels={"a": "x" * 64}), [f"invalid value: {'x' * 64} for label[a], must be no more than 63 bytes"]),
    (
        nodepool(requirements=[requirement("karpenter.sh/capacity-type", "In", "bogus")]),
        [
            "invalid value: no valid values found in [bogus] for karpenter.sh/capacity-type, expected one of: "
            "map[on-demand:{} spot:{}], got: [bogus] in requirements, restricted"
        ],
    ),
    (
        nodepool(requirements=[requirement("karpenter.sh/capacity-type", "In", "spot", "x", minValues=2)]),
        [
            "invalid value: not enough valid values found in [spot x] for karpenter.sh/capacity-type, expected at least 2 "
            "valid values from: [on-demand spot], got: 1 in requirements, restricted"
        ],
    ),
    (
        nodepool(requirements=[requirement("x", "Gt", "1", "2"), requirement("beta.kubernetes.io/os", "In")]),
        [
            "invalid value: key x with operator Gt must have a single positive integer value in requirements, restricted",
            "invalid value: key kubernetes.io/os with operator In must have a value defined in requirements, restricted",
        ],
    ),
    (
        nodepool(requirements=[requirement("x", "Is")]),
        [
            "invalid value: key x has an unsupported operator Is not in [DoesNotExist Exists Gt Gte In Lt Lte NotIn] "
            "in requirements, restricted"
        ],
    ),
    (
        nodepool(requirements=[exists("karpenter.sh/nodepool")]),
        ['invalid key: "karpenter.sh/nodepool" in requirements, restricted'],
    ),
    (
        nodepool(taints=[{"key": "a", "effect": "No"}], startupTaints=[{"key": "a", "effect": "No"}]),
        [
            'invalid value: "No" in taints',
            'invalid value: "No" in startupTaints',
            "duplicate taint Key/Effect pair a=No",
        ],
    ),
]


@pytest.mark.parametrize(("pool", "sentences"), POOLS)
def test_nodepools(pool: Object, sentences: list[str]) -> None:
    rejections = runtime_validate(pool, TODAY)
    assert texts(rejections) == sentences
    assert all(rejection.layer is RejectionLayer.NODEPOOL_RUNTIME for rejection in rejections)


def test_a_nodepool_s_rejection_points_at_the_label() -> None:
    (rejection,) = runtime_validate(nodepool(labels={"karpenter.azure.com/aksnodeclass": "x"}), TODAY)
    assert rejection.key == "karpenter.azure.com/aksnodeclass"
    assert rejection.pointer == ("spec", "template", "metadata", "labels", "karpenter.azure.com/aksnodeclass")
    assert "using label karpenter.azure.com/aksnodeclass is not allowed as it might interfere" in rejection.text


def test_an_empty_taint_key_wraps_what_came_before_it() -> None:
    (first, *_rest) = texts(runtime_validate(nodepool(taints=[{"effect": "NoSchedule"}]), TODAY))
    assert first == "invalid value: %!w(<nil>) in taints"


def test_operators_gte_and_lte_came_with_1_10() -> None:
    pool = nodepool(requirements=[requirement("x", "Gte", "1")])
    assert texts(runtime_validate(pool, provider("1.10.2"))) == []
    (text,) = texts(runtime_validate(pool, provider("1.7.2")))
    assert text.startswith(
        "invalid value: key x has an unsupported operator Gte not in [DoesNotExist Exists Gt In Lt NotIn]"
    )


def pod(**spec: object) -> Object:
    return testing.pod("p", namespace="n", **spec)


def affinity(kind: str, terms: object) -> Object:
    return pod(affinity={"nodeAffinity": {f"{kind}DuringSchedulingIgnoredDuringExecution": terms}})


NO_POOL = {"matchExpressions": [{"key": "karpenter.sh/nodepool", "operator": "DoesNotExist"}]}
FOREIGN = {"matchExpressions": [exists("karpenter.sh/x")]}


def test_pods() -> None:
    assert validate_pod(pod(nodeSelector={"kubernetes.azure.com/anything": "x"}), TODAY) == ()
    (rejection,) = validate_pod(pod(nodeSelector={"kubernetes.io/hostname": "x"}), TODAY)
    assert (rejection.layer, rejection.object, rejection.key) == (
        RejectionLayer.POD,
        "Pod/n/p",
        "kubernetes.io/hostname",
    )
    assert rejection.pointer == ("spec", "nodeSelector", "kubernetes.io/hostname")
    fields = affinity("required", {"nodeSelectorTerms": [{"matchFields": []}, FOREIGN]})
    assert [rejection.rule for rejection in validate_pod(fields, TODAY)] == ["match-fields", "restricted"]


def test_pods_that_want_no_karpenter_node() -> None:
    for wish in (
        affinity("required", {"nodeSelectorTerms": [NO_POOL]}),
        affinity("preferred", [{"weight": 1, "preference": NO_POOL}]),
    ):
        assert texts(validate_pod(wish, TODAY)) == [
            "configured to not run on a Karpenter provisioned node (requirement=karpenter.sh/nodepool DoesNotExist)"
        ]
    assert texts(validate_pod(wish, provider("1.4.0"))) == [
        "configured to not run on a Karpenter provisioned node via the karpenter.sh/nodepool DoesNotExist requirement"
    ]


def test_preferred_terms_were_validated_once() -> None:
    wish = affinity("preferred", [{"weight": 1, "preference": FOREIGN}])
    assert validate_pod(wish, TODAY) == ()
    assert [rejection.key for rejection in validate_pod(wish, provider("1.4.0"))] == ["karpenter.sh/x"]


TWO_TAINTS = [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "value": "c", "effect": "NoExecute"}]
HASHES: list[tuple[Object, str]] = [
    (nodepool(), "7719316286182947569"),
    (nodepool(labels={"team": "a", "x": ""}), "16576970363972047076"),
    (nodepool(labels={}), "14857620988761180331"),
    (nodepool(taints=TWO_TAINTS, startupTaints=[]), "17210504130076843249"),
    (nodepool(taints=TWO_TAINTS[::-1], startupTaints=[]), "17210504130076843249"),
    (nodepool(expireAfter="720h", terminationGracePeriod="30m"), "12026384939570285215"),
    (nodepool(expireAfter="Never"), "7719316286182947569"),
    (nodepool(expireAfter="0s", terminationGracePeriod="0s"), "6212273346533740345"),
    (nodepool(taints=[TWO_TAINTS[0] | {"timeAdded": "2026-01-01T00:00:00Z"}]), "6514376845630091736"),
    (changed(nodepool(), "spec", "template", "spec", "nodeClassRef", to=...), "7186316952538226297"),
    (nodepool(requirements=[exists("team")]), "7719316286182947569"),
]


@pytest.mark.parametrize(("pool", "value"), HASHES)
def test_hashes(pool: Object, value: str) -> None:
    assert nodepool_hash(pool) == value


@pytest.mark.parametrize(
    ("pool", "error"),
    [
        (nodepool(), None),
        (nodepool(expireAfter="5x"), 'time: unknown unit "x" in duration "5x"'),
        (nodepool(expireAfter=None), 'time: invalid duration ""'),
        (
            nodepool(of_pool={"weight": 1.5}),
            "json: cannot unmarshal number 1.5 into Go struct field NodePoolSpec.spec.weight of type int32",
        ),
        (
            nodepool(requirements=[requirement("x", "In", "y") | {"key": 1}]),
            "json: cannot unmarshal number into Go struct field "
            "NodeSelectorRequirementWithMinValues.spec.template.spec.requirements.key of type string",
        ),
        (
            nodepool(of_pool={"limits": {"cpu": True}, "weight": "x"}),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_what_go_cannot_decode(pool: Object, error: str | None) -> None:
    assert decode_error(pool) == error


@pytest.mark.parametrize(
    ("moment", "error"),
    [
        (None, None),
        ("2026-01-01T00:00:00Z", None),
        ("2026-01-01T00:00:00.123+02:00", None),
        ("today", 'parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"'),
        (
            'to "d\\y\x1f \x7f~é',
            'parsing time "to \\"d\\\\y\\x1f \x7f~\\xc3\\xa9" as "2006-01-02T15:04:05Z07:00": '
            'cannot parse "to \\"d\\\\y\\x1f \x7f~\\xc3\\xa9" as "2006"',
        ),
    ],
)
def test_a_time_is_none_or_as_rfc_3339_writes_it(moment: str | None, error: str | None) -> None:
    """Sources: apimachinery pkg/apis/meta/v1/time.go (UnmarshalJSON), Go time/format.go (quote)."""
    assert decode_error(nodepool(taints=[{"key": "a", "effect": "NoSchedule", "timeAdded": moment}])) == error
