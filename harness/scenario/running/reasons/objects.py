"""The makers of objects, and the writers of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.explain.traces.why import listed
from harness.kube.api.objects import Key, name_of, namespace_of
from harness.scenario.language.models.base import split_reference
from harness.scenario.running.reasons.failed_expectation import ITEMS, PODS, FailedExpectation
from harness.scenario.running.reasons.pods import failure_lines as pod_failure_lines

__all__ = ["failure_lines"]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the writers of the fields that are not as expected, and the ends of such objects."""
    body = failure.body
    kind = body.kind or split_reference(body.of)[0]
    names = [body.of] if body.of else [_reference(kind, obj) for obj in failure.run.world.list(kind)]
    paths = [difference.path for difference in failure.verdict.differences if difference.path]
    written = [line for name in names[:PODS] for path in paths for line in failure.why.fields(name, path)]
    lines = list(dict.fromkeys(written))
    if kind in ("NodeClaim", "Node"):
        meant = failure.why.named_claims(failure.why.claims_meant(*split_reference(body.of)[::2])) if body.of else []
        return [*lines, *listed(meant or failure.why.claims(), ITEMS, "NodeClaims")]
    if kind == "Pod":
        label = f"{failure.entry.label}.bound" + (f".{body.of.partition('/')[2]}" if body.of else "")
        return [*lines, *pod_failure_lines(replace(failure, verdict=replace(failure.verdict, label=label)))]
    made = [line for name in names[:ITEMS] for line in failure.why.made(name)]
    refused = failure.why.rejections(
        lambda reference: reference in names if names else reference.startswith(f"{kind}/")
    )
    lines_found = [*lines, *refused, *([] if lines else listed(made, ITEMS, f"{kind}s"))]
    return lines_found or [f"nobody applied or made {body.of or f'any {kind}'}"]


def _reference(kind: str, obj: Mapping[str, Any]) -> str:
    return Key(kind, namespace_of(obj), name_of(obj)).reference
