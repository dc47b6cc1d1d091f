"""Karpenter on Azure, simulated without Azure, a cluster or a container: its decisions and their reasons.

The names below are imported when they are first used, so that ``import harness`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.engine.engine import Settled
    from harness.karpenter.validation.rejections import Rejection
    from harness.sweep.result import Result
    from harness.sweep.simulation import simulate
    from harness.sweep.situation import Scaled, Situation
    from harness.world import ObjectsRefused, World

__all__ = [
    "ObjectsRefused",
    "Rejection",
    "Result",
    "Scaled",
    "Settled",
    "Situation",
    "World",
    "__version__",
    "simulate",
]

__version__ = "0.1.0"

_HOMES = {
    "ObjectsRefused": "harness.world",
    "Rejection": "harness.karpenter.validation.rejections",
    "Result": "harness.sweep.result",
    "Scaled": "harness.sweep.situation",
    "Settled": "harness.engine.engine",
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
