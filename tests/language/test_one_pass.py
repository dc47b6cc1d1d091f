"""Manifests are read in one pass, with the values and the places that the tree has; what is unusual is left to the tree."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.reading import one_pass, yaml_tree
from harness.reading.documents import documents, read_stream
from harness.reading.manifests import manifests_of_text
from harness.reading.problems import ScenarioError
from harness.reading.yaml_values import kubernetes_value

QUICK = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
TEXTS = st.sampled_from(["", "a", "yes", "012", "~", "ä€😀", "x: y", "- a", "two\nlines\n", "managedFields:", "$(x)"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(-5, 10**20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.sampled_from(["kind", "items", "spec", "metadata"]), VALUES, min_size=1)


def of_tree(text: str) -> Any:
    root, problems = yaml_tree.compose(text, file="f")
    return kubernetes_value(root), problems


@QUICK
@given(st.text(alphabet=st.sampled_from(list("ab:-[]{}&*!|>'\"#,? \n\t%@`<=.0ä")), max_size=50))
@example("a: &x 1\nb: *x\n")
@example("a: 1\na: 2\n")
@example("<<: {a: 1}\n")
@example("yes: 1\n")
@example("? [a]\n: b\n")
@example("items:\n- a\n- b: 1\n  c: 2\n-\n- [x]\n")
def test_any_text_is_read_as_the_tree_reads_it(text: str) -> None:
    read = one_pass.read_yaml(text, 0, len(text))
    if read is not None:
        assert (read.value, []) == of_tree(text)
        for item, place in zip(read.value["items"], read.items(), strict=False) if read.items() else ():
            assert item is None or kubernetes_value(place.tree("f")) == item


@QUICK
@given(st.lists(OBJECTS, min_size=1, max_size=4), st.booleans())
def test_items_of_a_list_stand_where_the_tree_has_them(objects: list[Any], flow: bool) -> None:
    value = {"apiVersion": "v1", "kind": "List", "items": objects, "metadata": {"name": "x"}}
    text = "# ä\n" + yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)
    (document,), problems = documents(text, "f.yaml")
    assert not problems
    assert document.value == value
    tree, _ = yaml_tree.compose(text, file="f.yaml")
    assert tree is not None
    for index, item in enumerate(document.items()):
        assert item.value == objects[index]
        for key in objects[index]:
            found = tree.get("items")[1].items[index].get(key)[0]  # type: ignore[union-attr, index]
            assert (item.position((key,)).line, item.position((key,)).column) == (found.line, found.column)


@QUICK
@given(st.lists(OBJECTS, min_size=1, max_size=3), st.sampled_from([None, 2, "\t"]))
def test_json_is_read_as_json(objects: list[Any], indent: int | str | None) -> None:
    value = {"kind": "List", "items": objects, "later": 1}
    text = json.dumps(value, indent=indent)
    (document,), problems = documents(text, "f.json")
    assert not problems
    assert document.value == json.loads(text)
    for index, item in enumerate(document.items()):
        assert item.value == objects[index]
        mark = item.position()
        line = text.splitlines()[mark.line - 1]
        assert line[mark.column - 1] == "{"


def test_places_in_json() -> None:
    text = '\n{"kind": "List",\n\t"items": [{"a": 1}, {"metadata":\n\t\t{"labels": {"x": 4}}}]}'
    (document,), _ = documents(text, "f.json")
    _, second = document.items()
    assert str(second.position(("metadata", "labels", "x"))) == "f.json:4:15"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 18446744073709551615}', 18446744073709551615),
        ('{"a": 18446744073709551616}', 18446744073709551616.0),
        ('{"a": 1e3}', 1000),  # as kubectl sends it
        ('{"a": "yes"}', "yes"),
        ('{"a": "2026-01-01"}', "2026-01-01"),
        (r'{"a": "\ud83d\ude00"}', "😀"),
        (r'{"a": "\ud83d!"}', "\ufffd!"),  # as Go reads half of a pair
    ],
)
def test_values_of_json(text: str, value: Any) -> None:
    (document,), problems = documents(text, "f.json")
    assert (document.value["a"], problems) == (value, [])
    assert type(document.value["a"]) is type(value)


def test_objects_one_after_the_other() -> None:
    found, _ = documents('{"kind": "A"}{"kind": "B"}\n{"kind": "C"}\n', "f.json")
    assert [one.value["kind"] for one in found] == ["A", "B", "C"]


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 2}}'])
def test_a_key_that_is_set_twice_is_a_mistake_in_json_too(text: str) -> None:
    problems = documents(text, "f.json")[1]
    assert "is already set in line 1" in str(problems[0])


MANAGED = """\
apiVersion: v1
kind: Pod
metadata:
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:metadata:
        f:labels: {}
  - apiVersion: v1
    manager: kubelet
  name: web
  namespace: [wrong]
data: |
  managedFields:
  are no list here
"""


def test_managed_fields_are_not_read() -> None:
    (document,), _ = documents(MANAGED, "f.yaml")
    assert document.value["metadata"] == {"name": "web", "namespace": ["wrong"]}
    assert document.value["data"] == "managedFields:\nare no list here\n"
    assert str(document.position(("metadata", "namespace"))) == "f.yaml:13:3"
    (document,), _ = documents(json.dumps({"metadata": {"name": "x", "managedFields": [{}]}}), "f.json")
    assert document.value == {"metadata": {"name": "x"}}


def test_a_large_list_is_no_mistake() -> None:
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"web-{number}", "annotations": {"a": "x" * 2000}}}
        for number in range(4300)
    ]
    text = yaml.dump({"apiVersion": "v1", "kind": "List", "items": pods}, Dumper=yaml.CSafeDumper)
    assert len(text) > 8 << 20
    found = manifests_of_text(text, "f.yaml")
    assert len(found) == 4300
    assert str(found[3999].document.position(("metadata", "name"))) == f"f.yaml:{8 + 3999 * 6}:5"


def test_a_header_ends_at_some_size() -> None:
    _, (problem,) = documents("scenario: x\ndescription: " + "a" * (5 << 20), "f.yaml")
    assert str(problem) == "f.yaml:1:1: is 5.0 MiB large; headers of scenarios end at 4 MiB"


class Endless(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return b"\0" * size


def test_what_has_no_end_is_not_read() -> None:
    with pytest.raises(ScenarioError, match="is binary, not YAML"):
        read_stream(Endless(), "zero")  # type: ignore[arg-type]


def test_a_mistake_in_the_middle_of_json(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        manifests_of_text('{"apiVersion": "v1",\n "kind": "Pod" "metadata": {}}', "f.json")
    assert str(caught.value).startswith("f.json:2:")
