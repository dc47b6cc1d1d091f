"""The ports of a world: where every controller gets its view, its writer, its sink and its cloud."""

from __future__ import annotations

from harness.clusters.cluster import Cluster
from harness.engine.access import Access
from harness.engine.engine import Engine
from harness.engine.ports import Cloud, Identity, Sink, View, Writer
from lazyrecords import dataclass

__all__ = ["Ports"]


@dataclass(frozen=True, slots=True)
class Ports:
    """The only source of views, writers and sinks, so that one place sees all that controllers do."""

    engine: Engine
    cluster: Cluster
    sink: Sink
    cloud: Cloud

    @property
    def view(self) -> View:
        """The cluster's objects."""
        return self.cluster.view

    def writer(self, identity: Identity) -> Writer:
        """A Writer in the name of this identity."""
        return self.cluster.writer(identity)

    def access(self, identity: Identity) -> Access:
        """All that controllers of this identity work with."""
        return Access(self.engine, self.view, self.writer(identity), self.sink)
