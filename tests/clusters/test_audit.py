"""The audit log as evidence: what belongs to a world is decided by when the server received it, not by when it was written."""

from __future__ import annotations

import json
from typing import Any

from harness.clusters.control_plane.audit import AuditLog


def line(second: int, name: str, revision: int, *, user: str = "kubernetes-admin", **labels: str) -> str:
    meta: dict[str, Any] = {"name": name, "resourceVersion": str(revision), "labels": labels}
    event = {
        "requestReceivedTimestamp": f"2026-01-01T00:00:{second:02}.000000Z",
        "verb": "create",
        "user": {"username": user},
        "objectRef": {"resource": "nodes", "name": name},
        "responseStatus": {"code": 201},
        "responseObject": {"metadata": meta},
    }
    return json.dumps(event) + "\n"


def log_of(lines: list[str]) -> AuditLog:
    return AuditLog(lambda text: "".join(each for each in lines if text in each))


def test_a_line_that_comes_late_belongs_to_the_world_before() -> None:
    lines = [line(1, "mark", 10)]
    log = log_of(lines)
    log.forget(log.received("mark"))
    lines += [line(2, "n", 11, a="new"), line(0, "n", 9, a="old")]  # the second was asked for before the mark
    assert [each.revision for each in log.of_node("n")] == [11]


def test_nothing_is_received_before_it_is_written() -> None:
    lines: list[str] = []
    log = log_of(lines)
    assert log.received("mark") == ""
    lines.append(line(1, "mark", 1)[:40])  # half of it
    assert log.received("mark") == ""
    lines[0] = line(1, "mark", 1)
    assert log.received("mark") == "2026-01-01T00:00:01.000000Z"


def test_what_is_skipped_is_not_read_again() -> None:
    lines = [line(1, "n", 1)]
    start = 0

    def skip() -> None:
        nonlocal start
        start = len(lines)

    log = AuditLog(lambda text: "".join(each for each in lines[start:] if text in each), skip)
    log.skip()
    lines.append(line(2, "n", 2))
    assert [each.revision for each in log.of_node("n")] == [2]
