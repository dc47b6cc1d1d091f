"""Whatever is in a file, loading it ends in scenarios or in lines about mistakes, never in another exception."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.reading.documents import documents
from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load_text

KEYS = [
    "scenario",
    "given",
    "when",
    "then",
    "matrix",
    "cases",
    "case",
    "values",
    "azure",
    "quota",
    "of",
    "are",
    "only",
    "labels",
]
KEYS += [
    "requirements",
    "rejected",
    "node",
    "pods",
    "bound",
    "object",
    "apply",
    "patch",
    "to",
    "apiVersion",
    "kind",
    "metadata",
    "name",
]
SCALARS = (
    st.sampled_from(["", "settle", "Pod/a", "$(x)", "1", "-1", "true", "1Gi", "eastus", "10m"])
    | st.none()
    | st.integers(-3, 3)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)
HEADERS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6).map(lambda value: {"scenario": "x", **value})
QUICK = settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@QUICK
@given(st.text(alphabet=st.sampled_from(list("ab:-[]{}&*!|>'\"#,? \n\t%@`$()~<=.0")), max_size=60))
@example("? [a]: b")
@example("<<: [1]")
@example("a: !!float x")
@example("*a : b")
def test_any_text(text: str) -> None:
    with suppress(ScenarioError):
        load_text(text, file="f.yaml")
    with suppress(ScenarioError):
        load_text("scenario: x\n" + text, file="f.yaml")


@QUICK
@given(st.lists(HEADERS | VALUES, min_size=1, max_size=3))
def test_any_structure(values: list[Any]) -> None:
    text = yaml.safe_dump_all(values)
    with suppress(ScenarioError):
        load_text(text, file="f.yaml")


@QUICK
@given(VALUES)
def test_manifests_keep_their_values(value: Any) -> None:
    """What PyYAML writes, kubectl's reading gives back (quoting makes text of what would be read as something else)."""
    found, problems = documents(yaml.safe_dump({"kind": "x", "value": value}), "f.yaml")
    assert not problems
    assert found[0].value["value"] == value
