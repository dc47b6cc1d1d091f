"""Who made an object, and who wrote what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.explain.traces.why import listed
from harness.kube.api.objects import Key, name_of, namespace_of
from harness.scenario.language.models.base import split_reference
from harness.scenario.running.reasons.asked import ITEMS, PODS, Asked
from harness.scenario.running.reasons.pods import tell as told_of_pods

__all__ = ["tell"]


def tell(asked: Asked) -> list[str]:
    """Who wrote the fields that are not as expected, and what became of such objects."""
    body = asked.body
    kind = body.kind or split_reference(body.of)[0]
    names = [body.of] if body.of else [_reference(kind, one) for one in asked.run.world.list(kind)]
    paths = [difference.path for difference in asked.verdict.differences if difference.path]
    written = [line for name in names[:PODS] for path in paths for line in asked.why.fields(name, path)]
    lines = list(dict.fromkeys(written))
    if kind in ("NodeClaim", "Node"):
        meant = asked.why.named_claims(asked.why.claims_meant(*split_reference(body.of)[::2])) if body.of else []
        return [*lines, *listed(meant or asked.why.claims(), ITEMS, "NodeClaims")]
    if kind == "Pod":
        label = f"{asked.entry.label}.bound" + (f".{body.of.partition('/')[2]}" if body.of else "")
        return [*lines, *told_of_pods(replace(asked, verdict=replace(asked.verdict, label=label)))]
    made = [line for name in names[:ITEMS] for line in asked.why.made(name)]
    refused = asked.why.rejections(lambda one: one in names if names else one.startswith(f"{kind}/"))
    found = [*lines, *refused, *([] if lines else listed(made, ITEMS, f"{kind}s"))]
    return found or [f"nobody applied or made {body.of or f'any {kind}'}"]


def _reference(kind: str, obj: Mapping[str, Any]) -> str:
    return Key(kind, namespace_of(obj), name_of(obj)).reference
