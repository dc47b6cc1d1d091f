"""The answers of a served cloud under `/_fakeazure/`, which Azure does not have.

Files that its own answers point at; the list of what is emulated; the journal; `POST reset`, `snapshot` (its body is the snapshot)
and `restore` (takes it as body).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from fakeazure.arm import json_text
from fakeazure.arm.real_namespaces import COVERAGE
from fakeazure.cloud import FakeAzure
from fakeazure.journal import Call
from fakeazure.resources.compute.vm_actions import serial_log
from fakeazure.resources.marketplace import aliases
from fakeazure.routing import router
from fakeazure.timers import timestamp
from fakeazure.transports.metadata import ALIASES

PREFIX = "/_fakeazure/"
CONSOLE = f"{PREFIX}console/"
"""The prefix of the files of a VM's boot diagnostics, which Azure has in a storage account."""
JSON, TEXT = "application/json; charset=utf-8", "text/plain; charset=utf-8"
Answer = tuple[int, str, bytes]
"""Status, content type, body."""


def answer(cloud: FakeAzure, method: str, path: str, body: bytes) -> Answer:
    """The answer to a request under `/_fakeazure/`."""
    lowered = path.lower()
    if method == "POST" and lowered == f"{PREFIX}reset":
        cloud.reset()
        return 204, JSON, b""
    if method == "POST" and lowered in (f"{PREFIX}snapshot", f"{PREFIX}restore"):
        try:
            if lowered.endswith("snapshot"):
                return 200, "application/octet-stream", cloud.snapshot()
            cloud.restore(body)
        except ValueError as error:
            return _error(409, "Conflict", str(error))
        return 204, JSON, b""
    if method == "GET" and lowered == f"{PREFIX}journal":
        return (
            200,
            JSON,
            json_text.write({"forgotten": cloud.journal.forgotten, "calls": [_call(call) for call in cloud.journal]}),
        )
    if method in ("GET", "HEAD"):
        if lowered == COVERAGE:
            from fakeazure import coverage  # for those who look it up

            return 200, TEXT, "\n".join(coverage.page(coverage.operations(router().routes))).encode()
        if lowered == ALIASES:
            return 200, JSON, json_text.write(aliases())
        if lowered.startswith(CONSOLE):
            return _console(cloud, unquote(path[len(CONSOLE) - 1 :]))
    return _error(404, "NotFound", f"{method} {path[:200]} is nothing that fakeazure has.")


def _call(call: Call) -> Mapping[str, Any]:
    return {
        "number": call.number,
        "time": timestamp(call.time),
        "method": call.method,
        "path": call.path,
        "apiVersion": call.api_version,
        "query": dict(call.query),
        "status": call.status,
        "code": call.code,
        "fault": call.fault,
        "body": call.body,
    }


def _console(cloud: FakeAzure, path: str) -> Answer:
    vm, _, leaf = path.rpartition("/")
    text = serial_log(cloud.state, vm)
    if text is None or leaf not in ("serial.log", "screenshot.bmp"):
        return _error(404, "BlobNotFound", "The specified blob does not exist.")
    if leaf == "serial.log":
        return 200, TEXT, text.encode()
    return 200, "image/bmp", _BITMAP


def _error(status: int, code: str, message: str) -> Answer:
    body: Mapping[str, Any] = {"error": {"code": code, "message": message}}
    return status, JSON, json_text.write(body)


_BITMAP = b"BM:\0\0\0\0\0\0\x006\0\0\0(\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0" + bytes(20)
"""One black pixel."""
