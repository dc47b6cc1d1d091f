"""Op ``requirements``: every observable of the requirement algebra for two lists of requirements."""

from collections.abc import Mapping
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirement import DOES_NOT_EXIST, IN
from harness.karpenter.requirements import Incompatible, Requirements

RANDOM = "$RANDOM"  # the protocol's sign for any integer


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """Describes ``a``, ``b`` and both together, and says whether a meets b. Raises RequestError for malformed requirements."""
    vocabulary = context.release.vocabulary
    a, b = _list(request, "a"), _list(request, "b")
    probe = [text for text in request.get("probe") or [] if isinstance(text, str)]
    first, second, both = (_build(items, vocabulary) for items in (a, b, a + b))
    labels = context.release.core.labels_from_claim_requirements
    described = {
        name: {**_describe(of, probe), **({"labels_from_requirements": _labels(of, vocabulary)} if labels else {})}
        for name, of in (("a", first), ("b", second), ("intersection", both))
    }
    return {
        **described,
        "has_intersection": {key: first[key].has_intersection(second[key]) for key in first if key in second},
        "compatible": _verdict(first.compatible(second)),
        "compatible_well_known": _verdict(first.compatible(second, vocabulary.well_known)),
        "intersects": _verdict(first.intersects(second)),
    }


def _list(request: Mapping[str, Any], field: str) -> list[Any]:
    items = request.get(field) or []
    if not isinstance(items, list):
        raise RequestError(f"{field} is not a list")
    return items


def _build(items: list[Any], vocabulary: Vocabulary) -> Requirements:
    try:
        return Requirements.from_node_selector(
            ({**item, "key": item.get("key") or ""} for item in items), vocabulary=vocabulary
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise RequestError(f"not a list of requirements: {error}") from error


def _describe(requirements: Requirements, probe: list[str]) -> dict[str, Any]:
    keys = {}
    for key, requirement in requirements.items():
        keys[key] = described = {
            "string": str(requirement),
            "operator": requirement.operator,
            "len": requirement.len(),
            "values": sorted(requirement.values),
            "has": {text: requirement.has(text) for text in probe},
            "node_selector": requirement.node_selector_requirements(),
        }
        if requirement.operator in (IN, DOES_NOT_EXIST):
            described["any"] = min(requirement.values, default="")
    return {"string": str(requirements), "has_min_values": requirements.has_min_values, "keys": keys}


def _labels(requirements: Requirements, vocabulary: Vocabulary) -> dict[str, str]:
    """One value of every key that is neither known nor restricted; ``$RANDOM`` where Go draws a number. Raises EmptyRange."""
    values = {
        key: RANDOM if (value := requirement.any(_least)) and requirement.complement else value
        for key, requirement in requirements.items()
        if not vocabulary.restricted_node_label(key)
    }
    return {key: value for key, value in values.items() if value}


def _least(low: int, high: int) -> int:
    return low


def _verdict(error: Incompatible | None) -> dict[str, Any]:
    if error is None:
        return {"error": None}
    return {"error": str(error), "variants": [str(error)]}
