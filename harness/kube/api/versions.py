"""Kubernetes versions that are known here: those whose API servers and kubelets the code tells apart, or knows to be alike.

Karpenter's provider has no table of its own: it takes every version that it can parse. A version outside of the range would be answered
as the nearest one, and nobody has measured whether that is true.
"""

from __future__ import annotations

import re

__all__ = ["KNOWN", "version_mistake"]

KNOWN = ((1, 26), (1, 37))
"""The first and the last. Labels of agent pools are known from 1.26 on, API servers up to the last that clusters were compared with."""

_VERSION = re.compile(r"v?(\d+)\.(\d+)(\.\d+)?")


def version_mistake(text: str) -> str:
    """What is wrong with a Kubernetes version; empty when nothing is."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return f"a version such as 1.34.2 is expected, not '{text}'"
    first, last = KNOWN
    if not first <= (int(match[1]), int(match[2])) <= last:
        known = " to ".join(f"{major}.{minor}" for major, minor in KNOWN)
        return f"Kubernetes {text} is not known here; known are {known}"
    return ""
