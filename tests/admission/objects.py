"""Objects that tests start from: each accepted as it is by every release."""

import copy
from typing import Any

Object = dict[str, Any]


def nodepool(**spec: Any) -> Object:
    """A NodePool; keywords go into ``spec.template.spec``, except labels and ``of_pool`` (the rest of ``spec``)."""
    labels, of_pool = spec.pop("labels", None), spec.pop("of_pool", {})
    template: Object = {
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [],
            **spec,
        }
    }
    if labels is not None:
        template["metadata"] = {"labels": labels}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "neg"},
        "spec": {"template": template, **of_pool},
    }


def nodeclass(**spec: Any) -> Object:
    return {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "neg"},
        "spec": spec,
    }


def nodeclaim(*requirements: Object) -> Object:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "neg"},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": list(requirements),
        },
    }


def exists(key: str) -> Object:
    return {"key": key, "operator": "Exists"}


def changed(obj: Object, *path: str | int, to: Any) -> Object:
    """A copy with another value at a place; ``...`` removes it."""
    new = copy.deepcopy(obj)
    holder: Any = new
    for part in path[:-1]:
        holder = holder[part]
    if to is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = to
    return new
