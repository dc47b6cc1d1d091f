"""When does an answer count as the expected one? PROTOCOL.md, "Comparing answers", says it in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Difference", "differences", "reply_differences"]

PLACEHOLDER = re.compile(r"hostname-placeholder-\d+")
LONG_NUMBER = re.compile(r"\b\d{16,}\b")
INTEGER = re.compile(r"-?\d+")
BRACKETED = re.compile(r"(not in|expected one of:) \[([^\]]*)\]")
"""Where releases print a set as Go happens to have it (``UnsortedList``, core ``pkg/apis/v1/{labels,nodeclaim_validation}.go``)."""
KINDS = {
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "persistentvolumes": "PersistentVolume",
    "storageclasses.storage.k8s.io": "StorageClass.storage.k8s.io",
    "nodeclaims.karpenter.sh": "NodeClaim.karpenter.sh",
    "nodepools.karpenter.sh": "NodePool.karpenter.sh",
}
"""The oracle's client is a fake one, which calls what is missing by its resource; a controller reads a cache, which says the kind
(controller-runtime pkg/cache/internal/cache_reader.go), as its Events and its log do."""
MISSING = re.compile(rf'\b({"|".join(map(re.escape, KINDS))}) (?=\\?"[^"]*" not found)')
RANDOM = "$RANDOM"
NOW = "$NOW"

# lists whose order means nothing, by the name of the field that holds them
UNORDERED = frozenset({"events", "requirements", "values", "node_selector", "errors", "offerings"})

# what answers tell beside what counts, by op
BESIDE = {"disrupt": frozenset({"go_order", "string"})}

# fields of `requirements` answers that are {"error": null | text, "variants": [texts]}
TEXTS = ("compatible", "compatible_well_known", "intersects")


class Difference(NamedTuple):
    """Where two answers differ: a path like ``a.keys.team.len``, what was expected and what was given."""

    path: str
    want: Any
    got: Any


def reply_differences(op: str, want: Mapping[str, Any], got: Mapping[str, Any]) -> list[Difference]:
    """Differences between two replies. The texts of panics and of refused requests do not count."""
    if "answer" not in want:
        return [Difference("reply", "a fatal or panic reply", "an answer")] if "answer" in got or "ended" in got else []
    if "answer" not in got:
        kind = next((kind for kind in ("unsupported", "fatal", "panic", "ended") if kind in got), None)
        return [Difference("reply", "an answer", f"{kind}: {got[kind]}" if kind else "nothing")]
    return answer_differences(op, want["answer"], got["answer"])


def answer_differences(op: str, want: Any, got: Any) -> list[Difference]:
    """Differences from the expected answer; none when `got` equals one of its variants as a whole."""
    if op in ("schedule", "disrupt"):
        want = as_a_cache_says(want)
    if op == "schedule" and isinstance(want, dict):
        given = _without(got, "variants") if isinstance(got, dict) else got
        found = list(differences(_without(want, "variants"), given))
        if found and any(not list(differences(other["answer"], given)) for other in want.get("variants") or ()):
            return []
        return found
    if op in BESIDE:
        want, got = _plain(want, BESIDE[op]), _plain(got, BESIDE[op])
    if not isinstance(want, dict) or not isinstance(got, dict):
        return list(differences(want, got))
    want, got = dict(want), dict(got)
    found = []
    if op == "requirements":
        for name in TEXTS:
            if name in want:
                found += _texts_differ(want.pop(name), got.pop(name, None), name)
    elif op == "validate_nodepool":
        if "runtime" in want:
            found += _texts_differ(want.pop("runtime"), got.pop("runtime", None), "runtime")
        if "requirements" in want:
            found += _results_differ(want.pop("requirements") or [], got.pop("requirements", None) or [])
    return found + list(differences(want, got))


def as_a_cache_says(want: Any) -> Any:
    """An oracle's answer with the kinds of what is missing."""
    text = json.dumps(want)
    return json.loads(MISSING.sub(lambda found: f"{KINDS[found[1]]} ", text)) if "not found" in text else want


def differences(want: Any, got: Any, path: str = "", name: str = "") -> Iterator[Difference]:
    """Where two JSON values differ; `name` is the field that holds them."""
    if _empty(want) and _empty(got):
        return
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want.keys() | got.keys()):
            if path.endswith("crd") and key == "message":
                if _api_message(want.get(key) or "") != _api_message(got.get(key) or ""):
                    yield Difference(f"{path}.{key}", want.get(key), got.get(key))
                continue
            yield from differences(want.get(key), got.get(key), f"{path}.{key}" if path else key, key)
    elif isinstance(want, list) and isinstance(got, list):
        if name in UNORDERED:
            want, got = sorted(want, key=_sort_key), sorted(got, key=_sort_key)
        if len(want) != len(got):
            yield Difference(f"{path}.length", len(want), len(got))
        for number, (one, other) in enumerate(zip(want, got, strict=False)):
            yield from differences(one, other, f"{path}[{number}]")
    elif not _scalars_equal(want, got):
        yield Difference(path, want, got)


def order_free(text: str) -> str:
    """The same for texts that differ only in the order of their parts."""
    text = BRACKETED.sub(lambda match: f"{match[1]} [{' '.join(sorted(match[2].split()))}]", text)
    return "; ".join(sorted(text.split("; ")))


def _without(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != key}


def _plain(value: Any, beside: frozenset[str]) -> Any:
    """The value without the fields that do not count."""
    if isinstance(value, dict):
        return {name: _plain(item, beside) for name, item in value.items() if name not in beside}
    return [_plain(item, beside) for item in value] if isinstance(value, list) else value


def _empty(value: Any) -> bool:
    """Absent, null, [] and {} are the same."""
    return value is None or value == [] or value == {}


def _api_message(text: str) -> tuple[str, list[str]]:
    """An API server's `KIND "name" is invalid: [a, b]`, without the order of a and b."""
    head, _, errors = text.partition(" is invalid: ")
    if errors.startswith("[") and errors.endswith("]"):
        errors = errors[1:-1]
    return head, sorted(errors.split(", "))


def _scalars_equal(want: Any, got: Any) -> bool:
    if isinstance(want, str) and isinstance(got, str):
        if want == RANDOM:
            return got == RANDOM or INTEGER.fullmatch(got) is not None
        if want == NOW:
            return True
        return want == got or PLACEHOLDER.sub("hostname-placeholder-N", want) == PLACEHOLDER.sub(
            "hostname-placeholder-N", got
        )
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    if isinstance(want, int | float) and isinstance(got, int | float):
        return bool(abs(want - got) <= 1e-9 * max(1.0, abs(want), abs(got)))
    return bool(want == got)


def _sort_key(value: Any) -> str:
    text = PLACEHOLDER.sub("hostname-placeholder-N", json.dumps(_whole(value), sort_keys=True))
    return LONG_NUMBER.sub(lambda match: repr(float(match[0])), text)  # two notations of one double


def _whole(value: Any) -> Any:
    """The value with 50 for 50.0, which compare as the same."""
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _texts_differ(want: Mapping[str, Any], got: Any, path: str) -> Iterator[Difference]:
    """`want` is {"error": null | text, "variants": [texts]}: any of the texts will do."""
    given = got.get("error") if isinstance(got, dict) else None
    accepted = [want.get("error"), *(want.get("variants") or ())]
    if given in accepted:
        return
    if isinstance(given, str) and order_free(given) in {order_free(text) for text in accepted if text is not None}:
        return
    yield Difference(f"{path}.error", accepted[0], given)


def _results_differ(want: list[dict[str, Any]], got: list[dict[str, Any]]) -> Iterator[Difference]:
    wanted, given = [item["key"] for item in want], [item.get("key") for item in got]
    if wanted != given:
        yield Difference("requirements", wanted, given)
        return
    for number, (one, other) in enumerate(zip(want, got, strict=True)):
        yield from _texts_differ(one["result"], other.get("result"), f"requirements[{number}].result")
