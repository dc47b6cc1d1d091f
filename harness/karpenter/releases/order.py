"""The order of the provider's releases by their names."""

from __future__ import annotations

from harness.kube.api.versions import Version

__all__ = ["release_order"]


def release_order(name: str) -> tuple[bool, Version]:
    """What releases sort and compare by: numbers as numbers; a name without one is not released yet, and later than all that are."""
    version = Version.find(name)
    return version is None, version or Version(0)
