"""Versions of Kubernetes, as far as AKS decides by them."""

from __future__ import annotations

import re

__all__ = ["minor_version"]

_VERSION = re.compile(r"v?(\d+)\.(\d+)")


def minor_version(text: str) -> tuple[int, int]:
    """Major and minor of a version such as `1.34.0`; (0, 0) when there is none."""
    match = _VERSION.match(text)
    return (int(match[1]), int(match[2])) if match is not None else (0, 0)
