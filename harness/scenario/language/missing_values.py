"""Keys of a header that stand there without a value."""

from __future__ import annotations

from typing import Any

from harness.reading.documents import Document
from harness.reading.problems import Problem, dotted

__all__ = ["missing_values", "without_missing"]


def missing_values(document: Document) -> list[Problem]:
    """Return `key:` without a value. Fields of manifests inside a header (`to`) may be empty: a merge patch removes them."""
    problems: list[Problem] = []

    def walk(value: Any, path: tuple[str | int, ...]) -> None:
        if value is None:
            problems.append(Problem(document.position(path), dotted(path), "a value is missing"))
        elif isinstance(value, dict):
            for key, item in value.items():
                if key != "to":
                    walk(item, (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, (*path, index))

    walk(document.value, ())
    return problems


def without_missing(value: Any) -> Any:
    """Return the same value without keys that have no value."""
    if isinstance(value, dict):
        return {key: without_missing(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_missing(item) for item in value if item is not None]
    return value
