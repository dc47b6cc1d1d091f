"""Traces as files: what is written is read, each line fits the schema, and a file that is no trace says what it is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from harness.scenario.running.runner import Runner
from harness.trace import Trace, TraceError, read_trace, trace_lines, trace_schema, write_trace
from harness.trace.facts import KINDS
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
    assert {fact.fact for fact in trace.facts} == {*KINDS} - {"blocked", "rejection", "advice"}
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
