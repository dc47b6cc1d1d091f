"""The audit log as evidence: what belongs to a world is decided by when the server received it, not by when it was written."""

from __future__ import annotations

import json
from typing import Any

from harness.clusters.control_plane.audit import AuditLog
from harness.clusters.provenance import label_writes


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


def test_a_node_that_was_made_although_its_kubelet_was_told_of_a_timeout() -> None:
    sent = {"metadata": {"name": "n", "labels": {"a": "kubelet's"}}}
    late = {
        "requestReceivedTimestamp": "2026-01-01T00:00:01.000000Z",
        "verb": "create",
        "user": {"username": "system:node:n"},
        "objectRef": {"resource": "nodes"},
        "requestObject": sent,
        "responseStatus": {"code": 504, "reason": "Timeout", "message": "request did not complete within 10s"},
    }
    patched = json.loads(line(3, "n", 8, user="system:serviceaccount:kube-system:node-controller", a="kubelet's"))
    patched["verb"] = "patch"
    again = {
        **late,
        "requestReceivedTimestamp": "2026-01-01T00:00:02.000000Z",
        "responseStatus": {"code": 409, "reason": "AlreadyExists"},
    }
    lines = [f"{json.dumps(each)}\n" for each in (late, again, patched)]
    first, refused, other = log_of(lines).of_node("n")
    assert (first.identity.by, first.verb, first.error, first.revision) == ("kubelet", "create", None, 7)
    assert refused.error is not None
    assert (other.identity.by, other.before) == ("other", sent)
    writes = label_writes("n", [first, refused, other], [], [])
    assert [(str(each.kind), each.by) for each in writes["a"]] == [("set", "kubelet")]


def test_a_node_that_somebody_else_made_is_not_its_kubelets() -> None:
    made = line(1, "n", 5, a="admin's")
    refused = {
        "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
        "verb": "create",
        "user": {"username": "system:node:n"},
        "objectRef": {"resource": "nodes"},
        "requestObject": {"metadata": {"name": "n"}},
        "responseStatus": {"code": 504},
    }
    found = log_of([f"{json.dumps(refused)}\n", made]).of_node("n")
    assert [(each.identity.by, each.error is None) for each in found] == [("kubelet", False), ("other", True)]


def test_a_node_that_finalizers_hold_is_there_until_the_last_is_gone() -> None:
    def event(second: int, verb: str, user: str, **meta: object) -> str:
        found = json.loads(line(second, "n", 10 + second, user=user, a="x"))
        found["verb"] = verb
        found["responseObject"]["metadata"].update(meta)
        return f"{json.dumps(found)}\n"

    karpenter, marked = "system:serviceaccount:kube-system:karpenter", "2026-01-01T00:00:02Z"
    log = log_of(
        [
            event(1, "create", "system:node:n", finalizers=["karpenter.sh/termination"]),
            event(2, "delete", karpenter, finalizers=["karpenter.sh/termination"], deletionTimestamp=marked),
            event(3, "patch", karpenter, finalizers=["karpenter.sh/termination"], deletionTimestamp=marked),
            event(4, "patch", karpenter, deletionTimestamp=marked),
        ]
    )
    entries = log.of_node("n")
    assert [each.after is None for each in entries] == [False, False, False, True]
    writes = label_writes("n", entries, [], [])
    assert [(str(each.kind), each.by) for each in writes["a"]] == [("set", "kubelet")]


def test_a_request_that_changed_nothing_wrote_nothing() -> None:
    """It was received before the one that wrote, by a busy server, and answered with what that one wrote."""
    made = json.loads(line(1, "n", 5, user="system:node:n"))
    wrote = json.loads(line(3, "n", 6, user="cloud-node-manager", size="large"))
    wrote |= {"verb": "patch", "requestObject": {"metadata": {"labels": {"size": "large"}}}}
    idle = json.loads(line(2, "n", 6, user="system:node:n", size="large"))
    idle |= {"verb": "patch", "requestObject": {"metadata": {"uid": "1"}}}
    entries = log_of([f"{json.dumps(each)}\n" for each in (idle, wrote, made)]).of_node("n")
    assert [each.identity.user for each in entries] == ["system:node:n", "cloud-node-manager", "system:node:n"]
    writes = label_writes("n", entries, [], [])
    assert [(str(each.kind), each.by) for each in writes["size"]] == [("set", entries[1].identity.by)]
    assert entries[1].identity.by != "kubelet"
