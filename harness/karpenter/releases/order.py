"""The order of the provider's releases by their names."""

from __future__ import annotations

from harness.kube.api.versions import Version

__all__ = ["line_of", "release_order"]


def release_order(name: str) -> tuple[bool, Version]:
    """Return the key by which releases sort and compare: numbers as numbers; a name without one is not released yet,
    and later than all that are.
    """
    version = Version.find(name)
    return version is None, version or Version(0)


def line_of(release: str) -> str:
    """The line that a release belongs to: `1.14` of `1.14.0`."""
    return release.rpartition(".")[0]
