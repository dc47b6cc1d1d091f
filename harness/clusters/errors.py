"""Failures of a cluster, in its own words."""

from __future__ import annotations

__all__ = ["ClusterFailed"]


class ClusterFailed(RuntimeError):
    """A cluster, or a part of it, did not start, died, or does not come to rest. The message names it, with its last log lines."""
