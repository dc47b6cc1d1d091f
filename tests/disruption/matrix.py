"""What the scenarios about how nodes leave say between them: decisions, policies, budgets, and Karpenter's own sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.kube.api.objects import Object, spec_of
from harness.scenario.language.cases import Case, Entry
from harness.scenario.language.files import load

__all__ = ["FOLDERS", "Said", "budget_forms", "cases", "decisions", "is_told", "policies", "sentences", "told"]

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "harness" / "karpenter" / "disruption"
FOLDERS = (ROOT / "scenarios" / "disruption", ROOT / "scenarios" / "reported", ROOT / "scenarios" / "lifecycle")

_LEAST = 8
_HOLE = "\0"
_ESCAPED = re.compile(r"\\(.)")
_DAY = re.compile(r"\S+ \S+ \S+ \S+ [^*\s]+")


@cache
def cases() -> tuple[Case, ...]:
    """All cases of the folders that nobody skips."""
    files = [file for folder in FOLDERS for file in sorted(folder.glob("*.yaml"))]
    return tuple(
        case for file in files for scenario in load(file) for case in scenario.cases if case.header.skip is None
    )


def _bodies(case: Case) -> Iterator[tuple[str, Any]]:
    """The expectations of a case: their kind, and what stands there."""
    for entry in case.then:
        inner = entry.inner.expectation
        yield inner.kind, inner.body


def decisions() -> set[tuple[str, str, str]]:
    """(method, reason, decision) of every decision that some case expects to be made."""
    found = set()
    for case in cases():
        for kind, body in _bodies(case):
            if kind == "disrupted" and body.count != 0 and isinstance(body.method, str):
                found.add((body.method, body.reason, body.decision))
    return found


def _pools(case: Case) -> Iterator[Object]:
    return (manifest.object for manifest in case.manifests if manifest.object.get("kind") == "NodePool")


def policies() -> set[tuple[str, str, bool]]:
    """(policy, method or reason, whether nodes go) as cases with one NodePool have them."""
    found = set()
    for case in cases():
        for pool in _pools(case):
            disruption = spec_of(pool).get("disruption") or {}
            never = disruption.get("consolidateAfter") == "Never"
            policy = "Never" if never else str(disruption.get("consolidationPolicy") or "WhenEmptyOrUnderutilized")
            for kind, body in _bodies(case):
                if kind == "disrupted":
                    goes = body.count != 0
                    found |= {(policy, str(each), goes) for each in (body.method, body.reason) if isinstance(each, str)}
                elif kind == "not_disrupted":
                    found.add((policy, "", False))
    return found


def budget_forms() -> set[tuple[str, str, bool]]:
    """(form of budget, method or reason, whether nodes go)."""
    found = set()
    for case in cases():
        forms = {form for pool in _pools(case) for form in _forms(pool)}
        for kind, body in _bodies(case):
            if kind == "disrupted" and isinstance(body.method, str):
                found |= {(form, body.method, body.count != 0) for form in forms}
            if kind == "not_disrupted":
                reason = re.search(r"disruption reason (\w+) due", str(body.because))
                found |= {(form, reason[1], False) for form in forms if reason}
    return found


def _forms(pool: Object) -> Iterator[str]:
    budgets = (spec_of(pool).get("disruption") or {}).get("budgets")
    if budgets is None:
        yield "default"
        return
    if len(budgets) > 1:
        yield "several"
    for each in budgets:
        yield _form(each)


def _form(budget: Mapping[str, Any]) -> str:
    schedule, nodes = budget.get("schedule"), str(budget["nodes"])
    if schedule is not None:
        return "macro" if schedule.startswith("@") else "days" if _DAY.fullmatch(schedule) else "window"
    if budget.get("reasons"):
        return "reasons"
    return "nothing" if nodes in ("0", "0%") else "share" if nodes.endswith("%") else "number"


class Said(NamedTuple):
    """A sentence of Karpenter's in our code: where it stands, and its fixed parts."""

    module: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.module}: {'…'.join(self.parts)}"


def sentences() -> Iterator[Said]:
    """Every text of the disruption controller's modules that reads like a sentence, docstrings left out."""
    for file in sorted(CODE.glob("*.py")):
        tree = ast.parse(file.read_text())
        inside = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in ast.walk(node)
            if part is not node
        }
        inside |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            parts = _parts(node) if id(node) not in inside else None
            if parts is not None and " " in "".join(parts).strip() and max(map(len, parts)) >= _LEAST:
                yield Said(file.stem, parts)


def _parts(node: ast.AST) -> tuple[str, ...] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (node.value,)
    if isinstance(node, ast.JoinedStr):
        return tuple(
            "".join(str(each.value) if isinstance(each, ast.Constant) else _HOLE for each in node.values).split(_HOLE)
        )
    return None


@cache
def told() -> frozenset[str]:
    """Every text that an expectation of the scenarios has, without the backslashes of patterns."""
    return frozenset(
        _ESCAPED.sub(r"\1", text) for case in cases() for entry in case.then for text in _texts(_plain(entry))
    )


def _plain(entry: Entry) -> Any:
    body = entry.document.value
    for key in entry.path:
        body = body[key]
    return body


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def is_told(said: Said) -> bool:
    """Whether a scenario expects its longest fixed part, or something out of that; Karpenter's events begin with a capital letter."""
    longest = max(said.parts, key=len).strip()
    found = re.compile(f"[{re.escape(longest[0].lower() + longest[0].upper())}]{re.escape(longest[1:])}")
    return any(found.search(text) or (len(text) >= _LEAST and text in longest) for text in told())
