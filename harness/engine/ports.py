"""The ports: all that a controller may see of a cluster, of the cloud and of its audience.

A controller reads a local `View`, writes through a `Writer` in the name of one identity, calls Azure through
`Cloud` and reports to a `Sink`. The same controller so runs on every kind of cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeVar

from harness.engine.disruptions import Disruption
from harness.engine.label_layers import LabelLayer
from harness.kube.api.objects import Object, name_of, namespace_of
from lazyrecords import dataclass

PatchType = Literal["merge", "strategic", "json"]


@dataclass(frozen=True, slots=True)
class Identity:
    """A user of the API server, as its audit log would name it."""

    user: str
    groups: tuple[str, ...] = ()

    @property
    def by(self) -> str:
        """The name of the sender in the provenance of labels: kubelet, karpenter, cloud-node-manager, other."""
        if self.user.startswith("system:node:"):
            return "kubelet"
        return _SENDERS.get(self.user, "other")

    @staticmethod
    def node(name: str) -> Identity:
        """The identity of the kubelet of this node."""
        return Identity(f"system:node:{name}", ("system:nodes", "system:authenticated"))

    @staticmethod
    def service_account(name: str, namespace: str = "kube-system") -> Identity:
        """The identity of a workload of the cluster."""
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return Identity(f"system:serviceaccount:{namespace}:{name}", groups)


KARPENTER = Identity.service_account("karpenter")
CLOUD_NODE_MANAGER = Identity.service_account("cloud-node-manager")
SCHEDULER = Identity("system:kube-scheduler", ("system:authenticated",))
CONTROLLER_MANAGER = Identity("system:kube-controller-manager", ("system:authenticated",))
CLUSTER_AUTOSCALER = Identity("cluster-autoscaler", ("system:authenticated",))
ADMIN = Identity("kubernetes-admin", ("system:masters", "system:authenticated"))

_SENDERS: Mapping[str, str] = {KARPENTER.user: "karpenter", CLOUD_NODE_MANAGER.user: "cloud-node-manager"}


class ChangeType(StrEnum):
    """The type of a watch event."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Change:
    """One watch event. `old` is the object before it (None when added), `object` the one after (last, if deleted)."""

    type: ChangeType
    object: Object
    old: Object | None
    revision: int


_Marked = TypeVar("_Marked", bound=Callable[..., Any])


def of_types(*types: ChangeType) -> Callable[[_Marked], _Marked]:
    """Mark a router of changes: the engine calls it for changes of these types only, as others concern none of its keys."""

    def mark(router: _Marked) -> _Marked:
        router.types = types  # type: ignore[attr-defined]
        return router

    return mark


@of_types(ChangeType.ADDED, ChangeType.MODIFIED)
def key_by_name(change: Change) -> tuple[str, ...]:
    """A router of changes for controllers whose keys are names: the object's, unless it is gone."""
    return (name_of(change.object),)


@of_types(ChangeType.ADDED, ChangeType.MODIFIED)
def key_by_place(change: Change) -> tuple[tuple[str, str], ...]:
    """A router of changes for controllers whose keys are namespace and name."""
    return ((namespace_of(change.object), name_of(change.object)),)


def key_at_first(key: Hashable) -> Callable[[Change], Iterable[Hashable]]:
    """Return a router of changes for controllers that start with the first change and have one key, their turn."""
    keys = [key]

    def router(change: Change) -> Iterable[Hashable]:
        started, keys[:] = [*keys], []
        return started

    return router


class View(Protocol):
    """Reads a cluster. All objects that it returns are shared: never change them."""

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object of this name, or None."""
        ...

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | str | None = None,
        fields: Mapping[str, str] | str | None = None,
    ) -> Sequence[Object]:
        """All objects of a kind in order of creation; selectors as the API takes them."""
        ...

    def indexed(self, index: str, value: str) -> Sequence[Object]:
        """The objects of a named index: `pods-by-node`, `nodes-by-provider-id`, `owned-by` (uid)."""
        ...

    def changes(self, since: int, kind: str | None = None) -> Iterator[Change]:
        """The watch events after a resourceVersion, in order. Raises ApiError 410 when the log is too short."""
        ...

    @property
    def revision(self) -> int:
        """The resourceVersion of the last write."""
        ...


class Writer(Protocol):
    """Writes in the name of one identity. A refusal is raised as ApiError, which carries the API's Status."""

    identity: Identity

    def create(self, obj: Object, *, dry_run: bool = False) -> Object: ...

    def update(self, obj: Object, *, subresource: str = "", dry_run: bool = False) -> Object: ...

    def patch(
        self,
        kind: str,
        name: str,
        patch: Any,
        *,
        namespace: str = "",
        type: PatchType = "merge",
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object: ...

    def delete(
        self,
        kind: str,
        name: str,
        *,
        namespace: str = "",
        grace_period_seconds: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> Object: ...

    def bind(self, name: str, namespace: str, node: str) -> None: ...

    def evict(
        self, name: str, namespace: str, *, uid: str | None = None, grace_period_seconds: int | None = None
    ) -> None: ...

    def scale(self, kind: str, name: str, namespace: str, replicas: int) -> Object: ...


class Cloud(Protocol):
    """Azure Resource Manager, in process: paths, api-versions and bodies as Azure has them, without JSON text."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any: ...


class Sink(Protocol):
    """The audience of controllers: their reports of what they did and why; no decision depends on it."""

    def event(
        self,
        obj: Object,
        type: str,
        reason: str,
        message: str,
        *,
        source: str = "karpenter",
        dedupe_seconds: float = 120,
    ) -> bool:
        """Publish a Kubernetes Event about an object; repeated within the dedupe window it is dropped. Return whether it got through."""
        ...

    def log(self, level: str, controller: str, message: str, **values: object) -> None:
        """Write a log line of a controller with its structured values."""
        ...

    def asserted(
        self, node: str, by: str, labels: Mapping[str, tuple[str, str]], *, revision: int | None = None
    ) -> None:
        """Report the labels that a sender wants on a Node: key → (value, from); from is "" where the sender does not
        know.

        `revision` is the view's when the sender began, where the report comes later; the present one by default.
        """
        ...

    def refused(self, node: str, by: str, labels: Mapping[str, tuple[str, str]], why: str) -> None:
        """Report labels that a sender could not even send to the API server (a kubelet that refuses its flags)."""
        ...

    def rejected(self, rejections: Sequence[Any]) -> None:
        """Report rejections of objects that a controller wrote or validated."""
        ...

    def launched(self, vm: str, path: str, layers: Sequence[LabelLayer], withheld: Sequence[LabelLayer]) -> None:
        """Report the labels that Karpenter wrote into a machine (`path` kubelet) or onto its NodeClaim (`path`
        nodeclaim), layer by layer.

        `withheld` are the labels that it left out of the machine because a kubelet may not set them.
        """
        ...

    def disrupted(self, disruption: Disruption) -> None:
        """Report a decision to disrupt nodes; its outcome is written into the same record later."""
        ...
