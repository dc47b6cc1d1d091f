"""kube-scheduler's scores: the best of the nodes that take a pod, by the plugins and weights of the default profile.

TaintToleration (3), NodeAffinity, PodTopologySpread and InterPodAffinity (2 each), the least allocated and the most
balanced node (1 each). Not simulated: images that a node has already (ImageLocality), and that a scheduler of more than
a hundred nodes looks at a part of them.

Sources: kubernetes pkg/scheduler/apis/config/v1/default_plugins.go,
pkg/scheduler/framework/plugins/helper/normalize_score.go and its neighbours tainttoleration, nodeaffinity,
podtopologyspread/scoring, interpodaffinity/scoring, noderesources/{least,balanced}_allocation.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.kube.api.versions import Version
from harness.kube.scheduling.loads import Load
from harness.kube.scheduling.placement import NodeInfo
from lazyrecords import dataclass

__all__ = ["Row", "Score", "allocation", "scored"]

_BEST = 100
_TAINTS, _AFFINITY, _SPREAD, _TOGETHER = 3, 2, 2, 2

_IMPROVEMENT = Version(1, 36)
"""From this version on the balance counts by how the pod changes it (noderesources/balanced_allocation.go)."""
_NO_REQUESTS = Version(1, 33)
"""From this version on a pod without requests is not judged by balance (kubernetes #129138)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One node, or several that are alike, before scores are brought onto one scale.

    `spread`: the number of pods in its domains, weighted; None where it does not count. `allocation`: see
    :func:`allocation`.
    """

    untolerated: int = 0
    preferred: int = 0
    allocation: int = 0
    spread: int | None = None
    together: int = 0


@dataclass(frozen=True, slots=True)
class Score:
    """The weighted scores of one node. `total` decides."""

    taints: int
    affinity: int
    allocation: int
    spread: int
    together: int

    @property
    def total(self) -> int:
        """The sum."""
        return self.taints + self.affinity + self.allocation + self.spread + self.together


def scored(rows: Sequence[Row]) -> list[Score]:
    """The scores of all nodes that take the pod, of which there is at least one, in their order."""
    untolerated = max(row.untolerated for row in rows)
    preferred = max(row.preferred for row in rows)
    counted = [row.spread for row in rows if row.spread is not None]
    fewest, most = min(counted, default=0), max(counted, default=0)
    lowest = min(row.together for row in rows)
    wide = max(row.together for row in rows) - lowest
    return [
        Score(
            _TAINTS * (_BEST - (_BEST * row.untolerated // untolerated if untolerated else 0)),
            _AFFINITY * (_BEST * row.preferred // preferred if preferred else 0),
            row.allocation,
            _SPREAD * _evenness(row.spread, fewest, most),
            _TOGETHER * (int(_BEST * ((row.together - lowest) / wide)) if wide else 0),
        )
        for row in rows
    ]


def _evenness(count: int | None, fewest: int, most: int) -> int:
    if count is None:
        return 0
    return _BEST * (most + fewest - count) // most if most else _BEST


def allocation(load: Load, info: NodeInfo, version: Version) -> int:
    """Return the score for free room on the node with the pod on it, and for even use of CPU and memory.

    The plugins are NodeResourcesFit and BalancedAllocation. `load` is the incoming pod's, `version` Kubernetes'.
    """
    used, (cpu, memory) = info.load, info.capacity
    free = [
        0 if taken > total else (total - taken) * _BEST // total
        for taken, total in (
            (used.assumed_cpu + load.assumed_cpu, cpu),
            (used.assumed_memory + load.assumed_memory, memory),
        )
        if total
    ]
    score = sum(free) // len(free) if free else 0
    if not load.cpu and not load.memory and version >= _NO_REQUESTS:
        return score
    after = _balance(used.cpu + load.cpu, cpu, used.memory + load.memory, memory)
    if version < _IMPROVEMENT:
        return score + after
    return score + _BEST // 2 + (_BEST // 2 + after - _balance(used.cpu, cpu, used.memory, memory)) // 2


def _balance(cpu: int, all_cpu: int, memory: int, all_memory: int) -> int:
    if not all_cpu or not all_memory:
        return _BEST
    uneven = abs((min(cpu / all_cpu, 1.0) - min(memory / all_memory, 1.0)) / 2)
    return int((1 - uneven) * _BEST)
