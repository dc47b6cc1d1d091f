"""Regular expressions are Go's, and none of them makes a search take longer than its text."""

import json
from pathlib import Path

import pytest

from harness.kube.go.pattern_syntax import MAX_LENGTH, PatternError
from harness.kube.go.patterns import searcher, whole

LINES = Path(__file__).with_name("go_patterns.jsonl").read_text(encoding="utf-8").split("\n")
TEXTS = json.loads(LINES[0])


def _answer(pattern: str) -> list[int] | str:
    try:
        search = searcher(pattern)
    except PatternError as error:
        return error.text
    return [number for number, text in enumerate(TEXTS) if search(text)]


def test_patterns_are_read_and_found_as_by_go() -> None:
    """What Go says of each pattern (go_patterns.go): the texts it is found in, or why it is none."""
    recorded = [json.loads(line) for line in LINES[1:] if line]
    assert len(recorded) > 1800
    assert [(pattern, _answer(pattern)) for pattern, _ in recorded] == [(pattern, told) for pattern, told in recorded]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 50_000 + "!"),
        ("(a|a)*b", "a" * 50_000),
        (r"^(.+)\s(.+)\s(.+)\s(.+)\s(.+)$", " " * 50_000 + "\n"),  # the schedule of a budget, in Karpenter's CRDs
        ("(x+x+)+y", "x" * 50_000),
        ("(?:a?){500}a{500}", "a" * 499),
    ],
)
def test_a_search_never_goes_back(pattern: str, text: str) -> None:
    """Python's own engine takes years for each."""
    assert not searcher(pattern)(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a" * (MAX_LENGTH + 1), "a pattern has at most 10,000 characters, not 10,001"),
        ("(" * 300 + ")" * 300, "error parsing regexp: expression nests too deeply: `" + "(" * 79 + "…`"),
        (r"\pL{1000}", r"larger than the engine here takes, 10 MiB compiled: `\pL{1000}`; Go may take it: "),
        (r"(?:[\w\pL]{1000}){1}" * 40, r"larger than the engine here takes, 10 MiB compiled: `"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_built(pattern: str, text: str) -> None:
    with pytest.raises(PatternError) as found:
        searcher(pattern)
    assert str(found.value).startswith(text)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("a(?=b)", "RE2 has no lookaround: write what may stand there, as in [^x], or a second condition"),
        ("(?<!a)b", "RE2 has no lookaround: write what may stand there, as in [^x], or a second condition"),
        (r"(a)\1", "RE2 has no back-references: write out what may be repeated"),
        ("(?P<n>a)(?P=n)", "RE2 has no back-references: write out what may be repeated"),
        ("a++", "RE2 has no possessive or atomic repetition and needs none: it never goes back"),
        ("(?>a)", "RE2 has no possessive or atomic repetition and needs none: it never goes back"),
        ("(?x)a", "the flags are i, m, s and U"),
        (r"a\Z", r"write \z for the very end of the text"),
    ],
)
def test_what_only_other_engines_know_comes_with_a_way_to_do_without(pattern: str, hint: str) -> None:
    with pytest.raises(PatternError) as found:
        searcher(pattern)
    assert found.value.hint == hint


def test_a_whole_text_may_have_several_lines() -> None:
    assert searcher(whole("a.*b|c"))("a\nb")
    assert not searcher(whole("a|c"))("ac")
    with pytest.raises(PatternError):
        whole("a)(b")
