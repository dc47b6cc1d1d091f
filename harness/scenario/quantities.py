"""Quantities of manifests that no API server would take, told at their place before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.kube.quantity import Quantity, QuantityError
from harness.scenario.manifests import Manifest
from harness.scenario.problems import Problem
from harness.scenario.validation import dotted

__all__ = ["quantity_problems"]

_LISTS = ("requests", "limits")


def quantity_problems(manifest: Manifest) -> Iterator[Problem]:
    """Requests and limits of containers that are malformed or negative."""
    for path, value in _resources(manifest.object, ()):
        text = str(value)
        try:
            negative = Quantity.parse(value).negative
        except QuantityError:
            what, hint = f"'{text}' is not a quantity", "a number such as 4, 500m or 8Gi is expected"
        else:
            if not negative:
                continue
            what, hint = f"the quantity {text} is negative", ""
        yield Problem(manifest.document.position(path), dotted(path), what, hint)


def _resources(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _resources(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            below = (*path, key)
            if key == "resources" and isinstance(item, dict):
                for name in _LISTS:
                    amounts = item.get(name)
                    if isinstance(amounts, dict):
                        yield from (((*below, name, resource), amount) for resource, amount in amounts.items())
            elif isinstance(item, (dict, list)):
                yield from _resources(item, below)
