"""Versions: `1.34.2` as numbers, and the Kubernetes versions that are known here.

They are the versions whose API servers and kubelets the code tells apart, or knows to be alike. Karpenter's provider
has no table of its own: it takes every version that it can parse. A version outside of the range would be answered as
the nearest one, and nobody has measured whether that is true.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

__all__ = ["KNOWN", "NEWEST", "Version", "version_mistake"]

# blang/semver's ParseTolerant, as kaz reads versions: a `v` before it and anything behind it, and the minor version may be missing
_TOLERANT = re.compile(r"\s*v?([0-9]+)(?:\.([0-9]+)(?:\.([0-9]+))?)?(?:[.+-]|\s*\Z)")
_VERSION = re.compile(r"v?(\d+)\.(\d+)(\.\d+)?")


class Version(NamedTuple):
    """A version of anything; versions compare as tuples do: by their numbers, pre-releases (``final`` is false) before the release."""

    major: int
    minor: int = 0
    patch: int = 0
    final: bool = True

    @classmethod
    def find(cls, text: str) -> Version | None:
        """The version in a text such as `v1.34.0`, `1.34` or `1.34.0-rc.1`, None when it holds none."""
        return _found(text)

    @classmethod
    def parse(cls, text: str) -> Version:
        """The version in a text. Raises ValueError when it holds none."""
        version = cls.find(text)
        if version is None:
            raise ValueError(f"{text!r} is not a version such as 1.34.0")
        return version

    @property
    def line(self) -> tuple[int, int]:
        """Major and minor version."""
        return self.major, self.minor

    def reaches(self, line: tuple[int, int]) -> bool:
        """Return whether this is MAJOR.MINOR.0 or later; its pre-releases are earlier (semver's GE)."""
        return self >= Version(*line)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@lru_cache(maxsize=1024)
def _found(text: str) -> Version | None:
    match = _TOLERANT.match(text)
    if match is None:
        return None
    return Version(int(match[1]), int(match[2] or 0), int(match[3] or 0), not match[0].endswith("-"))


KNOWN = (Version(1, 26), Version(1, 37))
"""The first and the last. Labels of agent pools are known from 1.26 on, API servers up to the last that clusters were compared with."""
NEWEST = KNOWN[1]
"""The version that is assumed for a cluster without one."""


def version_mistake(text: str) -> str:
    """Return the mistake in a Kubernetes version; empty when there is none."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return f"a version such as 1.34.2 is expected, not '{text}'"
    first, last = KNOWN
    if not first.line <= (int(match[1]), int(match[2])) <= last.line:
        return (
            f"Kubernetes {text} is not known here; known are {first.major}.{first.minor} to {last.major}.{last.minor}"
        )
    return ""
