"""Karpenter on Azure, simulated without Azure, a cluster or a container: its decisions and their reasons.

The names below are imported when they are first used, so that ``import harness`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.sweep.result import Result
    from harness.sweep.simulation import simulate
    from harness.sweep.situation import Situation
    from harness.world import ObjectsRefused, World

__all__ = ["ObjectsRefused", "Result", "Situation", "World", "__version__", "simulate"]

__version__ = "0.1.0"

_HOMES = {
    "ObjectsRefused": "harness.world",
    "Result": "harness.sweep.result",
    "Situation": "harness.sweep.situation",
    "World": "harness.world",
    "simulate": "harness.sweep.simulation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
