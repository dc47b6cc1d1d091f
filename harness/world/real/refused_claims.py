"""NodeClaims that the API server refused to a real controller, as the simulated loop records its own."""

from __future__ import annotations

from harness.clusters.cluster import Cluster
from harness.karpenter.validation.rejections import Rejection
from harness.world.recorder import Recorder

__all__ = ["RefusedClaims"]


class RefusedClaims:
    """Reads the journal of a world's cluster, which has the requests of a controller where the cluster is in memory."""

    def __init__(self, cluster: Cluster, recorder: Recorder) -> None:
        self._cluster, self._recorder = cluster, recorder
        self._read = 0

    def look(self) -> None:
        """Record the refusals since the last call: those of admission, not those of a name that there is already."""
        entries = self._cluster.journal.entries
        for entry in entries[self._read :]:
            if entry.key.kind == "NodeClaim" and entry.verb == "create" and entry.error is not None:
                causes = entry.error.cause if isinstance(entry.error.cause, tuple) else ()
                self._recorder.rejected([cause for cause in causes if isinstance(cause, Rejection)])
        self._read = len(entries)
