"""Limits of one file: so high that nobody needs more, and so low that a machine bears them.

Each limit is raised by name in the environment, so never by a file: ``HARNESS_LIMITS=pods=500000,cases=20000``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from lazyrecords import dataclass

__all__ = [
    "ALL_STEPS",
    "CASES",
    "NODES",
    "PODS",
    "SITUATIONS",
    "STEPS",
    "VARIABLE",
    "Limit",
    "LimitsError",
    "check_limits",
    "with_remedy",
]

VARIABLE = "HARNESS_LIMITS"


class LimitsError(ValueError):
    """The variable is not of the form `NAME=N,…`; the message is one line."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The highest number of something. `name` is its name in the variable."""

    name: str
    usual: int

    def most(self, environment: Mapping[str, str] | None = None) -> int:
        """The limit that holds. Raises LimitsError."""
        text = (os.environ if environment is None else environment).get(VARIABLE, "")
        return _raised(text).get(self.name, self.usual) if text else self.usual

    @property
    def hint(self) -> str:
        """Return the way to raise it."""
        return f"{VARIABLE}={self.name}=N in the environment raises that"


PODS = Limit("pods", 200_000)
"""Pods that a file's workloads make. A cluster of Kubernetes is made for 150,000, one of AKS for 200,000."""

NODES = Limit("nodes", 10_000)
"""Nodes that NodePools keep up whether pods need them or not. A cluster of Kubernetes or AKS is made for 5,000."""

CASES = Limit("cases", 10_000)
"""Cases of one scenario: `cases` times the axes of its matrix."""

SITUATIONS = Limit("situations", 250_000)
"""Rows of a sweep."""

STEPS = Limit("steps", 200_000)
"""Steps of controllers within an hour of virtual time: with more of them, 56 a second, a run ends.

Looks that write nothing and are a second or more apart do not count (harness/engine/step_bounds.py)."""

ALL_STEPS = Limit("all-steps", 10_000_000)
"""Steps of controllers during one `advance`: a budget's schedule may have an event in every minute of ten years."""

_ALL = {limit.name: limit for limit in (PODS, NODES, CASES, SITUATIONS, STEPS, ALL_STEPS)}


def with_remedy(text: str | None, limit: str) -> str:
    """Return the text with the way to raise the limit of this name, where there is such a limit; empty for no text."""
    return f"{text}; {_ALL[limit].hint}" if text and limit in _ALL else text or ""


def check_limits(environment: Mapping[str, str]) -> None:
    """Raise LimitsError for a variable that names no limit or no number."""
    _raised(environment.get(VARIABLE, ""))


def _raised(text: str) -> dict[str, int]:
    raised: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        if name not in _ALL or not (number.isascii() and number.isdigit() and len(number) < 19):
            names = ", ".join(_ALL)
            raise LimitsError(f"{VARIABLE}: NAME=N is expected, with a name of {names}, not '{part[:80]}'")
        raised[name] = int(number)
    return raised
