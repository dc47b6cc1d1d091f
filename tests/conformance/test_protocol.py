"""The protocol's promises that hold for every op: one reply per line, in order, and no line stops the process."""

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest

from harness.conformance import AnswerContext, DataFile, RequestError, Unsupported, reply, serve


@pytest.fixture
def context() -> AnswerContext:
    release: Any = SimpleNamespace(version="1.14.0", core=SimpleNamespace(version="1.14.0"))
    return AnswerContext(release)


def broken(request: Any, context: AnswerContext) -> Any:
    raise KeyError("spec")


def refusing(request: Any, context: AnswerContext) -> Any:
    raise RequestError("object is not a NodePool")


def not_here(request: Any, context: AnswerContext) -> Any:
    raise Unsupported("usages")


def deep(request: Any, context: AnswerContext) -> Any:
    return deep(request, context)


OPS: dict[str, Any] = {
    "echo": lambda request, context: request["value"],
    "broken": broken,
    "refusing": refusing,
    "not_here": not_here,
    "deep": deep,
    "not_json": lambda request, context: {1, 2},
    "not_finite": lambda request, context: float("inf"),
}

REPLIES = [
    ("an answer", '{"id": 1, "op": "echo", "value": {"a": [1]}}', {"id": 1, "answer": {"a": [1]}}),
    ("an id of any kind", '{"id": {"n": [1]}, "op": "echo", "value": null}', {"id": {"n": [1]}, "answer": None}),
    ("no id", '{"op": "echo", "value": 0}', {"id": None, "answer": 0}),
    ("a refused request", '{"id": 2, "op": "refusing"}', {"id": 2, "fatal": "object is not a NodePool"}),
    ("not supported", '{"id": 2, "op": "not_here"}', {"id": 2, "unsupported": "usages"}),
    ("an unknown op", '{"id": 3, "op": "nope"}', {"id": 3, "fatal": "unknown op nope"}),
    ("an op that is not a name", '{"id": 3, "op": ["echo"]}', {"id": 3, "fatal": 'unknown op ["echo"]'}),
    ("an op outside the folder", '{"id": 3, "op": "../loop"}', {"id": 3, "fatal": "unknown op ../loop"}),
    ("no op", '{"id": 3}', {"id": 3, "fatal": "unknown op null"}),
    ("a panic", '{"id": 4, "op": "broken"}', {"id": 4, "panic": "KeyError: 'spec'"}),
    ("half a surrogate pair", r'{"id": 5, "op": "echo", "value": "\ud800x"}', {"id": 5, "answer": "\ufffdx"}),
    ("a whole surrogate pair", r'{"id": 5, "op": "echo", "value": "\ud83d\ude00"}', {"id": 5, "answer": "😀"}),
]


@pytest.mark.parametrize(("line", "expected"), [pytest.param(*row[1:], id=row[0]) for row in REPLIES])
def test_one_line_one_reply(line: str, expected: dict[str, Any], context: AnswerContext) -> None:
    assert reply(line.encode(), context, dict(OPS)) == expected


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"nonsense",
        b"[1, 2]",
        b"3",
        b'"text"',
        b'{"id": NaN}',
        b"\xff\xfe{}",
        b"\x00",
        b'{"a":' * 100_000,
        b"9" * 10_000,
    ],
    ids=["cut", "word", "list", "number", "string", "NaN", "not UTF-8", "NUL", "too deep", "too many digits"],
)
def test_what_is_not_a_request_is_answered_in_its_place(line: bytes, context: AnswerContext) -> None:
    answer = reply(line, context, dict(OPS))
    assert answer["id"] is None
    assert answer.keys() == {"id", "fatal"}


@pytest.mark.parametrize("op", ["deep", "not_json", "not_finite"])
def test_an_answer_that_cannot_be_given_does_not_stop_the_next(
    op: str, context: AnswerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.conformance.loop._find", lambda name, loaded: OPS[name])
    out = io.BytesIO()
    serve([f'{{"id": 1, "op": "{op}"}}\n'.encode(), b"\n", b'{"id": 2, "op": "echo", "value": 7}'], out, context)
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first["id"] == 1
    assert "panic" in first
    assert second == {"id": 2, "answer": 7}


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], 0),
        ([b'{"id": 1, "op": "echo", "value": 7}'], 0),
        ([b'{"id": 1, "op": "not_json"}', b'{"id": 2, "op": "echo", "value": 7}'], 1),
        ([b'{"id": 1, "op": "broken"}'], 1),
        ([b"nonsense", b'{"id": 1, "op": "broken"}'], 2),
        ([b'{"id": 1, "op": "nope"}', b'{"id": 2, "op": "echo", "value": 7}'], 2),
    ],
    ids=["nothing", "answered", "not JSON", "panic", "no request", "unknown op"],
)
def test_the_exit_code_tells_what_was_not_answered(
    lines: list[bytes], code: int, context: AnswerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str, loaded: object) -> Any:
        if name not in OPS:
            raise RequestError(f"unknown op {name}")
        return OPS[name]

    monkeypatch.setattr("harness.conformance.loop._find", find)
    assert serve(lines, io.BytesIO(), context) == code


def test_info_names_the_ops_and_takes_the_regions_from_the_data(context: AnswerContext) -> None:
    def sku(zones: list[str]) -> dict[str, Any]:
        return {"name": "Standard_D2s_v3", "locationInfo": [{"location": "x", "zones": zones}]}

    context.data = {"locations": {"southcentralus": {"skus": [sku(["1"])]}, "westcentralus": {"skus": [sku([])]}}}
    info = reply(b'{"id": 0, "op": "info"}', context)["answer"]
    assert (info["release"], info["core"]) == ("v1.14.0", "v1.14.0")
    assert (info["region"], info["region_non_zonal"]) == ("southcentralus", "westcentralus")
    assert info["ops"] == sorted(info["ops"])
    assert "info" not in info["ops"]


def test_data_files_are_read_when_first_looked_into(tmp_path: Any) -> None:
    path = tmp_path / "data.json"
    data = DataFile(path)  # does not exist yet
    path.write_text('{"release": "v1.14.0", "locations": {}}')
    assert dict(data) == {"release": "v1.14.0", "locations": {}}
    path.write_text("[]")
    with pytest.raises(ValueError, match="not a JSON object"):
        len(DataFile(path))
