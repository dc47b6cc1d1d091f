"""Traces as files: what is written is read, each line fits the schema, and a file that is no trace says what it is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from harness.engine.rng import Rng
from harness.explain.traces.why import Why
from harness.reports.film import plain_lines
from harness.scenario.running.runner import Runner
from harness.trace import Trace, TraceError, read_trace, trace_lines, trace_schema, write_trace
from harness.trace.comparing import compare_traces
from harness.trace.facts import KINDS, End
from harness.trace.files import trace_of_lines
from harness.trace.schema import trace_table
from tests.trace.conftest import ROOT, trace_of

OF_EACH_FOLDER = (
    "admission/crd-updates.yaml",
    "capacity/refusals.yaml",
    "capacity/late-failures.yaml",
    "disruption/budgets.yaml",
    "faq/refused-pods.yaml",
    "labels/first-releases.yaml",
    "lifecycle/spot-eviction.yaml",
    "rejected/labels-of-a-nodepool.yaml",
    "reported/az-zonal-allocation-failure-not-cached.yaml",
    "scheduling/launch.yaml",
)

HEADER = (
    '{"trace":1,"harness":"0.1.0","release":"1.14.0","kubernetes":"1.34.0","region":"eastus","mode":"aksscriptless",'
    '"seed":0,"cluster":"memory","karpenter":"simulated","epoch":1767225600.0}'
)


@pytest.fixture(scope="module", params=OF_EACH_FOLDER)
def recorded(request: pytest.FixtureRequest, runner: Runner) -> Trace:
    return trace_of(runner, ROOT / "scenarios" / request.param)


def test_what_is_written_is_read(recorded: Trace, tmp_path: Path) -> None:
    for name in ("one.jsonl", "one.jsonl.gz"):
        write_trace(recorded, tmp_path / name)
        found = read_trace(tmp_path / name)
        assert list(trace_lines(found)) == list(trace_lines(recorded))
        assert len(found.facts) == len(recorded.facts)
    assert gzip.decompress((tmp_path / "one.jsonl.gz").read_bytes()) == (tmp_path / "one.jsonl").read_bytes()


def test_every_line_fits_the_schema(recorded: Trace) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="pip install jsonschema")
    schema = trace_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    by_kind = {each["title"]: jsonschema.Draft202012Validator(each) for each in schema["anyOf"]}
    for line in trace_lines(recorded):
        value = json.loads(line)
        by_kind[KINDS[value["fact"]].__name__ if "fact" in value else "Header"].validate(value)


def test_an_old_trace_is_read() -> None:
    """A file that version 1 wrote, as it was then."""
    trace = read_trace(Path(__file__).with_name("version-1.jsonl.gz"))
    assert trace.header.trace == 1
    assert {fact.fact for fact in trace.facts} == {*KINDS} - {"blocked", "rejection", "advice", "runaway"}
    assert trace.facts[-1].to_json() == {
        "t": 411.3016,
        "fact": "end",
        "outcome": "passed",
        "facts": len(trace.facts) - 1,
    }


def test_the_reference_page_has_every_fact() -> None:
    assert trace_table() in (ROOT / "docs/reference/trace.md").read_text()


def test_what_later_versions_add_is_passed_over() -> None:
    later = [
        HEADER[:-1] + ',"weather":"fine"}',
        '{"t":1,"fact":"dream","of":"sheep"}',
        '{"t":2,"fact":"step","text":"settle","x":1}',
    ]
    trace = trace_of_lines(later)
    assert [(fact.fact, fact.t) for fact in trace.facts] == [("step", 2)]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "a.jsonl:1: the file is empty; a trace begins with its header"),
        (["{}"], "a.jsonl:1: no header of a trace: 'trace' (the format's version) is missing"),
        (['{"trace":2}'], "a.jsonl:1: a trace of version 2; this harness reads versions up to 1"),
        (["[1]"], "a.jsonl:1: an object is expected on each line"),
        (['{"trace":1}'], "a.jsonl:1: harness: missing"),
        (
            [HEADER, '{"t":1}', '{"t":"x","fact":"step","text":"y"}'],
            "a.jsonl:2: fact: missing\na.jsonl:3: t: a number is expected, not 'x'",
        ),
        (
            [HEADER, '{"t":1,"fact":"usage","node":"n","pods":[1],"requests":{},"allocatable":{}}'],
            "a.jsonl:2: pods: a list is expected, not [1]",
        ),
    ],
)
def test_what_is_no_trace_says_so(lines: list[str], said: str) -> None:
    with pytest.raises(TraceError) as error:
        trace_of_lines(lines, "a.jsonl")
    assert str(error.value) == said


def test_broken_files(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(HEADER.encode())[:-4])
    with pytest.raises(TraceError, match=r"a\.jsonl\.gz:1: cannot be decompressed"):
        read_trace(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TraceError, match="not UTF-8"):
        read_trace(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "a.jsonl:1: the file is empty; a trace begins with its header"),
        (b"\n", "a.jsonl:1: no JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"[" * 100_000, "a.jsonl:1: no JSON: nested too deep"),
        (b"\x00" * 100, "a.jsonl:1: no JSON: Expecting value: line 1 column 1 (char 0)"),
        (HEADER.encode(), "a.jsonl:1: cut off: the last line of a trace is its fact 'end'"),
        (
            HEADER.encode() + b'\n{"t":1,"fa',
            "a.jsonl:2: no JSON: Unterminated string starting at: line 1 column 8 (char 7)",
        ),
        (
            HEADER.encode() + b'\n{"t":1,"fact":"step","text":"x"}\n',
            "a.jsonl:2: cut off: the last line of a trace is its fact 'end'",
        ),
        (
            HEADER.encode() + b'\n{"t":1,"fact":"end","outcome":"","facts":3}\n',
            "a.jsonl:2: 3 facts are expected before the end, there are 0",
        ),
        (HEADER.encode() + b'\n{"t":NaN,"fact":"step","text":"x"}\n', "a.jsonl:2: no JSON: NaN is no number"),
        (HEADER.encode() + b'\n{"t":1,"fact":["step"]}\n', "a.jsonl:2: fact: a word is expected, not ['step']"),
        (
            HEADER.encode()
            + b'\n{"t":1,"fact":"funnel","number":1,"nodepool":"a","sizes":1,"steps":[{"filter":"x"}]}\n',
            "a.jsonl:2: steps: a list is expected, not [{'filter': 'x'}]",
        ),
        (gzip.compress(HEADER.encode() + b"\n" + bytes(4000))[:-20], "a.jsonl:1: cannot be decompressed: "),
    ],
)
def test_attacks_are_told_in_one_line(data: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(data)
    with pytest.raises(TraceError) as error:
        read_trace(Path("a.jsonl"))
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


def test_of_many_mistakes_a_few_are_told() -> None:
    with pytest.raises(TraceError) as error:
        trace_of_lines([HEADER, *["{}"] * 1000], "a.jsonl")
    lines = str(error.value).splitlines()
    assert (len(lines), lines[-1]) == (11, "a.jsonl: and more like these")


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_too_large_is_not_read(packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.trace.files._LARGEST", 1 << 20)
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(bytes(2 << 20)) if packed else bytes(2 << 20))
    with pytest.raises(TraceError, match="1: more than 1 MiB of text, which no trace has"):
        read_trace(path)


def test_any_text_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Separators of lines that are no line ends of JSON lines, and half a surrogate pair, which UTF-8 cannot say."""
    for text in ("a\u2028b", "a\x85b\x0c", "half \ud83d of it", "é ×"):
        (trace,) = [trace_of_lines([HEADER, json.dumps({"t": 0, "fact": "step", "text": text})])]
        whole = Trace(trace.header, (*trace.facts, End(0.0, "", 1)))
        write_trace(whole, tmp_path / "a.jsonl")
        assert read_trace(tmp_path / "a.jsonl") == whole


def test_a_later_version_may_add_facts_that_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{HEADER}\n{{"t":1,"fact":"dream"}}\n{{"t":1,"fact":"end","outcome":"passed","facts":1}}\n')
    assert [fact.fact for fact in read_trace(path).facts] == ["end"]


def test_whatever_is_changed_in_a_trace_is_refused_or_read() -> None:
    """Values of an old trace replaced by others of any shape: no reader ends with anything but a TraceError."""
    lines = gzip.decompress(Path(__file__).with_name("version-1.jsonl.gz").read_bytes()).decode().splitlines()
    whole, rng, refused = trace_of_lines(lines), Rng(1).stream("changes"), 0
    for _ in range(60):
        number = rng.randrange(len(lines))
        value = json.loads(lines[number])
        place = rng.choice(sorted(value))
        inner = value[place]
        strange = rng.choice([None, -1, 1e308, "", [], {}, [{}], [[1]], {"x": {"y": []}}, True])
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            inner[0][rng.choice(sorted(inner[0]))] = strange
        else:
            value[place] = strange
        try:
            trace = trace_of_lines([*lines[:number], json.dumps(value), *lines[number + 1 :]])
        except TraceError:
            refused += 1
            continue
        assert list(plain_lines(trace))
        compare_traces(trace, whole)
        Why(trace).claims()
    assert 10 < refused < 60
