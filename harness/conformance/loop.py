"""Lines in, lines out: whatever a line holds, exactly one reply comes back and the process lives on."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, BinaryIO, NoReturn

from harness.conformance import ops
from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError, Unsupported

__all__ = ["op_names", "reply", "serve"]

Op = Callable[[Mapping[str, Any], AnswerContext], Any]


def op_names() -> list[str]:
    """Names of the ops that can be asked, sorted; nothing is imported."""
    return sorted(module.name for module in pkgutil.iter_modules(ops.__path__) if not module.name.startswith("_"))


def serve(lines: Iterable[bytes], out: BinaryIO, context: AnswerContext) -> int:
    """Answer each line with one line, flushed; blank lines are skipped, as the Go oracle does.

    Return the exit code: 2 when a line was refused (`fatal`), else 1 when one could not be answered (`panic`), else 0.
    """
    loaded: dict[str, Op] = {}
    code = 0
    for line in lines:
        if line.strip():
            answer, encoded = _encoded(reply(line, context, loaded))
            code = max(code, 2 if "fatal" in answer else 1 if "panic" in answer else 0)
            out.write(encoded)
            out.flush()
    return code


def reply(line: bytes, context: AnswerContext, loaded: dict[str, Op] | None = None) -> dict[str, Any]:
    """The reply to one line: ``{id, answer}``, ``{id, fatal}``, ``{id, panic}`` or ``{id, unsupported}``.

    `loaded` keeps the ops found so far, so that a line costs no import.
    """
    try:
        request = _decode(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "fatal": f"not a request: {error}"}
    identity, name = request.get("id"), request.get("op")
    try:
        op = _find(name, {} if loaded is None else loaded)
        return {"id": identity, "answer": op(request, context)}
    except RequestError as error:
        return {"id": identity, "fatal": str(error)}
    except Unsupported as error:
        return {"id": identity, "unsupported": str(error)}
    except Exception as error:  # whatever a question does to the code, the next one deserves an answer
        return {"id": identity, "panic": f"{type(error).__name__}: {error}"}


def _find(name: object, loaded: dict[str, Op]) -> Op:
    if not isinstance(name, str) or name not in loaded:
        if not isinstance(name, str) or name not in op_names():
            raise RequestError(f"unknown op {name if isinstance(name, str) else json.dumps(name)}")
        loaded[name] = import_module(f"{ops.__name__}.{name}").answer
    return loaded[name]


def _decode(line: bytes) -> dict[str, Any]:
    request = json.loads(line.decode("utf-8", "replace"), parse_constant=_no_constant)
    if not isinstance(request, dict):
        raise ValueError("not a JSON object")
    # Go reads half a surrogate pair as U+FFFD; Python would keep it and fail to encode the answer
    return _whole(request) if b"\\ud" in line.lower() else request


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _encoded(answer: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return a reply and its line; one that is not JSON is replaced by a `panic`."""
    try:
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        answer = {"id": answer.get("id"), "panic": f"the answer is not JSON: {error}"}
        text = json.dumps(answer, ensure_ascii=False)
    return answer, text.encode("utf-8", "replace") + b"\n"
