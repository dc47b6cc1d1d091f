"""A question about one object, with the real code's answer, as a scenario: what to paste under `scenarios/` when a mismatch is mended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.karpenter.releases import provider
from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load_text
from harness.scenario.language.writing import scenario_text as written

__all__ = ["scenario_text"]

Json = dict[str, Any]


def scenario_text(release: str, request: Mapping[str, Any], want: Mapping[str, Any]) -> str | None:
    """The scenario file of a `validate_nodepool` question, None where today's language cannot say it.

    The other ops ask about inputs that a scenario computes itself (instance types, SKU records, NodeClaims, catalogs).
    """
    made, answer = request.get("object"), want.get("answer")
    if request.get("op") != "validate_nodepool" or not isinstance(made, dict) or not isinstance(answer, dict):
        return None
    refusals = (answer.get("crd") or {}).get("errors")
    if made.get("kind") == "NodeClaim" and not refusals:
        return None  # in a scenario it would be launched, and refused there
    name = f"{made.get('kind')}/{(made.get('metadata') or {}).get('name')}"
    header: Json = {
        "scenario": f"{name} as Karpenter {release} judges it",
        "given": {"karpenter": release, "kubernetes": provider(release).core.kubernetes},
        "then": list(_expectations(name, answer)) or [{"accepted": {"object": name}}],
    }
    text = written(header, [made])
    try:
        load_text(text, file=name)
    except ScenarioError:
        return None
    return text


def _expectations(name: str, answer: Mapping[str, Any]) -> list[Json]:
    errors = (answer.get("crd") or {}).get("errors") or []
    refused = [{"object": name, **_place(error), "text": error["text"]} for error in errors]
    if not refused and (runtime := (answer.get("runtime") or {}).get("error")):
        # Karpenter joins what it finds, and a finding may itself be joined: each part is in one of the refusals
        parts = [{"contains": part} for part in runtime.split("; ")]
        refused = [{"object": name, "layer": "nodepool-runtime", "message": part} for part in parts]
    return [{"rejected": one} for one in refused]


def _place(error: Mapping[str, Any]) -> Json:
    return {"path": error["field"]} if error.get("field") not in (None, "", "<nil>") else {}
