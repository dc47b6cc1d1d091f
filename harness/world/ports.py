"""The ports of a world: the view, the writer, the sink and the cloud of every controller."""

from __future__ import annotations

from harness.clusters.cluster import Cluster
from harness.engine.access import Access
from harness.engine.engine import Engine
from harness.engine.ports import Cloud, Identity, Sink, View, Writer
from lazyrecords import dataclass

__all__ = ["Ports"]


@dataclass(frozen=True, slots=True)
class Ports:
    """The only source of views, writers and sinks, so that one place sees all actions of controllers."""

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
        """Return the tools of a controller of this identity."""
        return Access(self.engine, self.view, self.writer(identity), self.sink)
