"""What a RuntimeClass adds to a pod and which pods it refuses, function by function.

Sources: kubernetes plugin/pkg/admission/runtimeclass/admission.go (setOverhead, setScheduling, validateOverhead),
pkg/apis/node/validation/validation.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.runtime_class import (
    RuntimeClassRefused,
    check_overhead,
    default_runtime_class,
    missing_runtime_class,
    runtime_class_errors,
    with_runtime_class,
)
from harness.testing import pod

CPU, SAME, OTHER = {"cpu": "250m"}, {"cpu": "0.25"}, {"cpu": "1"}


def of(fixed: dict[str, str] | None, **scheduling: Any) -> dict[str, Any]:
    """A RuntimeClass; `fixed` is what each of its pods takes besides its containers."""
    made: dict[str, Any] = {"handler": "kata"}
    if fixed is not None:
        made["overhead"] = {"podFixed": fixed}
    return {**made, "scheduling": scheduling} if scheduling else made


@pytest.mark.parametrize(
    ("own", "fixed", "refused"),
    [
        (None, None, False),
        (CPU, None, True),
        ({}, None, True),
        (None, CPU, True),
        (CPU, CPU, False),
        (SAME, CPU, False),
        (OTHER, CPU, True),
        ({**CPU, "memory": "1Mi"}, CPU, True),
        ({}, {}, False),
        (CPU, {}, True),
    ],
)
def test_an_overhead_is_that_of_the_class(
    own: dict[str, str] | None, fixed: dict[str, str] | None, refused: bool
) -> None:
    made = pod() if own is None else pod(overhead=own)
    if not refused:
        check_overhead(made, of(fixed))
        return
    why = "without corresponding" if fixed is None else "doesn't match"
    with pytest.raises(RuntimeClassRefused, match=why):
        check_overhead(made, of(fixed))


@pytest.mark.parametrize(
    ("own", "fixed", "written"),
    [(None, None, None), (CPU, None, CPU), (None, CPU, CPU), ({}, CPU, CPU), (SAME, CPU, CPU), (None, {}, {})],
)
def test_the_overhead_of_the_class_is_written_into_a_pod(
    own: dict[str, str] | None, fixed: dict[str, str] | None, written: dict[str, str] | None
) -> None:
    made = pod() if own is None else pod(overhead=own)
    assert with_runtime_class(made, of(fixed))["spec"].get("overhead") == written
    with pytest.raises(RuntimeClassRefused, match="doesn't match"):
        with_runtime_class(pod(overhead=OTHER), of(CPU))


@pytest.mark.parametrize(
    ("own", "wanted", "written"),
    [
        ({}, {}, None),
        ({}, {"a": "1"}, {"a": "1"}),
        ({"b": "2"}, {"a": "1"}, {"a": "1", "b": "2"}),
        ({"a": "1"}, {"a": "1"}, {"a": "1"}),
        ({"b": "2"}, {}, {"b": "2"}),
    ],
)
def test_both_select_nodes(own: dict[str, str], wanted: dict[str, str], written: dict[str, str] | None) -> None:
    made = pod(nodeSelector=own) if own else pod()
    spec = with_runtime_class(made, of(None, nodeSelector=wanted))["spec"]
    assert spec.get("nodeSelector") == written
    assert spec["tolerations"] == []
    assert with_runtime_class(made, of(None))["spec"] == made["spec"]
    with pytest.raises(RuntimeClassRefused, match="conflict"):
        with_runtime_class(pod(nodeSelector={"a": "2"}), of(None, nodeSelector={"a": "1"}))


def test_tolerations_of_the_class_come_after_those_of_the_pod() -> None:
    mine, its = {"key": "mine", "operator": "Exists"}, {"key": "its", "operator": "Exists"}
    made = with_runtime_class(pod(tolerations=[mine]), of(None, tolerations=[its, mine]))
    assert made["spec"]["tolerations"] == [mine, its]


def test_what_a_class_takes_is_stored_in_canonical_form() -> None:
    assert default_runtime_class(of({"cpu": "0.25"}))["overhead"] == {"podFixed": CPU}
    for bare in (of(None), of({}), {"handler": "kata", "overhead": None}):
        assert default_runtime_class(bare) is bare


def test_the_missing_class_is_found_in_a_refusal() -> None:
    said = str(RuntimeClassRefused.not_found("kata"))
    assert missing_runtime_class(f'pods "p" is forbidden: {said}') == "kata"
    assert missing_runtime_class('pod rejected: RuntimeClass "kata" is odd') == ""
    assert missing_runtime_class("another refusal") == ""


EXISTS = {"key": "a", "operator": "Exists"}


@pytest.mark.parametrize(
    ("made", "fields"),
    [
        (of(None), []),
        ({}, ["handler"]),
        ({"handler": ""}, ["handler"]),
        ({"handler": "Kata"}, ["handler"]),
        (of({"cpu": "0"}), []),
        (of({"cpu": "-1"}), ["overhead.limits[cpu]"]),
        (of(None, nodeSelector={"a": "b"}, tolerations=[EXISTS, {**EXISTS, "key": "b"}]), []),
        (of(None, nodeSelector={"a b": "c"}), ["scheduling.nodeSelector"]),
        (of(None, nodeSelector={"a": "b c"}), ["scheduling.nodeSelector"]),
        (of(None, tolerations=[EXISTS, {"key": "b", "effect": "Never"}]), ["scheduling.tolerations[1].effect"]),
        (of(None, tolerations=[EXISTS, {"key": "b"}, {**EXISTS, "value": ""}]), ["scheduling.tolerations[2]"]),
        (of(None, tolerations=[EXISTS, {**EXISTS, "effect": "NoSchedule"}]), []),
        (of(None, tolerations=[{"key": "a"}, {"key": "a", "operator": "Equal"}]), []),
    ],
)
def test_what_is_wrong_with_a_class(made: dict[str, Any], fields: list[str]) -> None:
    assert [each.field for each in runtime_class_errors(made, None)] == fields


def test_a_second_toleration_is_shown_as_go_writes_it() -> None:
    full = {"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 5}
    (error,) = runtime_class_errors(of(None, tolerations=[full, full]), None)
    assert str(error) == (
        "scheduling.tolerations[1]: Duplicate value: "
        '{"Key":"a","Operator":"Equal","Value":"b","Effect":"NoExecute","TolerationSeconds":5}'
    )


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [("kata", "kata", False), ("kata", "runc", True), ("", "", False), ("", "kata", True)],
)
def test_of_a_change_only_the_handler_is_looked_at(before: str, after: str, refused: bool) -> None:
    old, new = {"handler": before}, {**of({"cpu": "-1"}), "handler": after}
    assert [each.field for each in runtime_class_errors(new, old)] == (["handler"] if refused else [])
