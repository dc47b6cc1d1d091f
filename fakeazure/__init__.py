"""The part of Azure that Karpenter talks to: what is sold, what can be had now, and what ARM answers.

The names below are imported when they are first used, so that ``import fakeazure`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fakeazure.cloud import FakeAzure
    from fakeazure.mock import mock_azure

__all__ = ["FakeAzure", "__version__", "mock_azure"]

__version__ = "0.1.0"

_HOMES = {"FakeAzure": "fakeazure.cloud", "mock_azure": "fakeazure.mock"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
