"""Objects that tests start from: each accepted as it is by every release."""

import copy
from typing import Any

from harness import testing

Object = dict[str, Any]


def nodepool(**spec: Any) -> Object:
    """A NodePool; keywords go into ``spec.template.spec``, except labels and ``of_pool`` (the rest of ``spec``)."""
    labels, of_pool = spec.pop("labels", None), spec.pop("of_pool", {})
    made = testing.nodepool(name="neg")
    template = made["spec"]["template"]
    template["spec"].update(spec)
    if labels is None:
        del template["metadata"]
    else:
        template["metadata"]["labels"] = labels
    made["spec"].update(of_pool)
    return made


def nodeclass(**spec: Any) -> Object:
    return testing.nodeclass("neg", **spec)


def nodeclaim(*requirements: Object) -> Object:
    return testing.nodeclaim(*requirements, name="neg")


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
