"""Patterns of a scenario are RE2's and are judged when the file is read, each at its place."""

import pytest

from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load_text

POD = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: x}]}\n"

NO_LOOKAROUND = "RE2 has no lookaround: write what may stand there, as in [^x], or a second condition"


@pytest.mark.parametrize(
    ("expectation", "problem"),
    [
        (
            "log: {message: {matches: 'a(?!b)'}}",
            "s.yaml:3:19: then[0].log.message.matches: error parsing regexp: invalid or unsupported Perl syntax: `(?!`; "
            + NO_LOOKAROUND,
        ),
        (
            "objects: {kind: Pod, match: {metadata: {name: {matches: '('}}}}",
            "s.yaml:3:50: then[0].objects.match.metadata.name.matches: error parsing regexp: missing closing ): `(`",
        ),
        (
            r"azure: {calls: [{body: {a: [{b: {matches: '(x)\1', contains: y}}]}}]}",
            "s.yaml:3:36: then[0].azure.calls[0].body.a[0].b.matches: error parsing regexp: invalid escape sequence: `\\1`; "
            "RE2 has no back-references: write out what may be repeated",
        ),
        (
            "node: {of: Pod/a, labels: {x: {matches: '[z-a]'}}}",
            "s.yaml:3:34: then[0].node.labels.x.matches: error parsing regexp: invalid character class range: `z-a`",
        ),
    ],
)
def test_a_pattern_that_re2_refuses_is_told_with_its_place(expectation: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as found:
        load_text(f"scenario: s\nthen:\n- {expectation}\n{POD}", file="s.yaml")
    assert str(found.value) == problem


def test_all_of_them_are_told_at_once() -> None:
    many = "objects: {kind: Pod, match: {a: {matches: '('}, b: {matches: ')'}, c: {matches: ok}}}"
    with pytest.raises(ScenarioError) as found:
        load_text(f"scenario: s\nthen:\n- {many}\n{POD}", file="s.yaml")
    assert [problem.path for problem in found.value.problems] == [
        "then[0].objects.match.a.matches",
        "then[0].objects.match.b.matches",
    ]


def test_a_map_that_only_looks_like_a_pattern_is_left_alone() -> None:
    load_text(
        f"scenario: s\nthen:\n- objects: {{kind: Pod, match: {{spec: {{matches: '(', x: y}}}}}}\n{POD}", file="s.yaml"
    )
