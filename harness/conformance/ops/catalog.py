"""Op ``catalog``: registers a list of instance types under a name, for ``schedule``."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError
from harness.karpenter.cloudprovider import InstanceType, Offering, Overhead
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirements import Requirements
from harness.kube.api.quantity import QuantityError
from harness.kube.api.resources import parse_list


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """The length of the list, given as ``instance_types`` or as the answer to the ``instance_types`` request ``from``."""
    items = list(request.get("instance_types") or ())
    body = request.get("from")
    if body is not None:
        listed = import_module("harness.conformance.ops.instance_types").answer(body, context)
        if isinstance(listed, Mapping):
            return listed
        items += listed
    context.catalogs[request.get("name") or ""] = instance_types(items, context.release.vocabulary)
    return len(items)


def instance_types(items: Iterable[Mapping[str, Any]], vocabulary: Vocabulary) -> Sequence[InstanceType]:
    """Instance types of their protocol form. Raises RequestError."""
    try:
        shared: dict[Requirements, Requirements] = {}
        return tuple(_instance_type(item, vocabulary, shared) for item in items)
    except (AttributeError, KeyError, TypeError, QuantityError, ValueError) as error:
        raise RequestError(f"not a list of instance types: {error}") from error


def _instance_type(
    item: Mapping[str, Any], vocabulary: Vocabulary, shared: dict[Requirements, Requirements]
) -> InstanceType:
    """``shared``: what offerings of other sizes require; equal ones are one object, as the provider's own are."""
    overhead = item.get("overhead") or {}
    return InstanceType(
        item.get("name") or "",
        Requirements.from_node_selector(item.get("requirements"), vocabulary=vocabulary),
        parse_list(item.get("capacity")),
        Overhead(*(parse_list(overhead.get(part)) for part in ("kubeReserved", "systemReserved", "evictionThreshold"))),
        tuple(
            Offering(
                shared.setdefault(
                    sold := Requirements.from_node_selector(offering.get("requirements"), vocabulary=vocabulary), sold
                ),
                float(offering.get("price") or 0),
                bool(offering.get("available")),
                int(offering.get("reservation_capacity") or 0),
            )
            for offering in item.get("offerings") or ()
        ),
        attach_limits={name: int(limit) for name, limit in (item.get("attach_limits") or {}).items()},
    )
