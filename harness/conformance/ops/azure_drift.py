"""Op ``azure_drift``: what the provider's IsDrifted says of NodeClaims."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError, Unsupported
from harness.conformance.provider_inputs import nodeclass_of, options_of
from harness.karpenter.labels.azure import NODE_CLASS_HASH
from harness.karpenter.launch.nodeclass_hash import nodeclass_hash
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.provider.drift import ProviderDrift
from harness.karpenter.releases import ProviderRelease
from harness.kube.api.objects import Object, annotations_of, name_of, spec_of, with_metadata, with_status

_REAL_HASH = "$HASH"
_CONDITIONS = (
    "ImagesReady",
    "KubernetesVersionReady",
    "Ready",
    "SubnetsReady",
    "ValidationSucceeded",
    "LocalDNSReady",
)
_NOW, _BEFORE = 2, 1  # generations


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """Reason or error by NodeClaim, hash by AKSNodeClass, events. Raises RequestError, Unsupported."""
    release = context.release
    if release.drift_of_subnets:
        raise Unsupported(f"{release.version} looks at network interfaces, which the question does not have")
    try:
        return _answer(request, context)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RequestError(f"malformed request: {type(error).__name__}: {error}") from error


def _answer(request: Mapping[str, Any], context: AnswerContext) -> dict[str, Any]:
    release = context.release
    classes = [_nodeclass(nodeclass, request, release) for nodeclass in request.get("nodeclasses") or ()]
    hashes = {name_of(nodeclass): nodeclass_hash(nodeclass, release.nodeclass_hash_fields) for nodeclass in classes}
    classes = [_filled(nodeclass, hashes[name_of(nodeclass)]) for nodeclass in classes]
    objects = _Objects(request.get("nodepools") or (), classes, request.get("nodes") or ())
    events = _Events()
    machines = _Machines(request.get("machines") or {})
    drift = ProviderDrift(objects, events, machines, options_of(request, context), release)
    claims = {}
    for claim in request.get("nodeclaims") or ():
        ref = spec_of(claim).get("nodeClassRef")
        made = _filled(claim, hashes.get(ref.get("name") or "", "")) if ref is not None else claim
        claims[name_of(claim)] = _judged(drift, made)
    version = release.nodeclass_hash_version
    return {
        "nodeclaims": claims,
        "nodeclasses": {name: {"hash": value, "hash_version": version} for name, value in hashes.items()},
        "events": [dict(zip(_Events.fields, event, strict=True)) for event in sorted(events.told)],
    }


def _judged(drift: ProviderDrift, claim: Object) -> dict[str, str]:
    try:
        return {"reason": drift.reason(claim)}
    except CloudProviderError as error:
        return {"reason": "", "error": str(error)}


def _nodeclass(raw: Object, request: Mapping[str, Any], release: ProviderRelease) -> Object:
    """The AKSNodeClass with defaults, in its second generation, with conditions about that one or the one before."""
    not_ready, stale = request.get("not_ready") or (), request.get("stale") or ()
    conditions = [
        {
            "type": kind,
            "status": "False" if kind in not_ready else "True",
            "observedGeneration": _BEFORE if kind in stale else _NOW,
        }
        for kind in _CONDITIONS
    ]
    made = nodeclass_of({"nodeclass": raw})
    return with_status(with_metadata(made, generation=_NOW), conditions=conditions)


def _filled(obj: Object, value: str) -> Object:
    """The object with the real hash where it asks for that."""
    annotations = annotations_of(obj)
    if annotations.get(NODE_CLASS_HASH) != _REAL_HASH:
        return obj
    return with_metadata(obj, annotations={**annotations, NODE_CLASS_HASH: value})


class _Objects:
    """The cluster of the question."""

    def __init__(self, pools: Sequence[Object], classes: Sequence[Object], nodes: Sequence[Object]) -> None:
        self._named = {
            "NodePool": {name_of(nodepool): nodepool for nodepool in pools},
            "AKSNodeClass": {name_of(nodeclass): nodeclass for nodeclass in classes},
        }
        self._nodes = nodes

    def get(self, kind: str, name: str) -> Object | None:
        return self._named[kind].get(name)

    def indexed(self, index: str, value: str) -> Sequence[Object]:
        return [node for node in self._nodes if spec_of(node).get("providerID", "") == value]


class _Events:
    """Each event once."""

    fields = ("kind", "object", "reason", "type", "message")

    def __init__(self) -> None:
        self.told: set[tuple[str, ...]] = set()

    def event(self, obj: Object, type: str, reason: str, message: str) -> None:
        self.told.add(("NodePool", name_of(obj), reason, type, message))


class _Machines:
    """The AKS machines of the question; nothing else of Azure is asked in the releases that are answered."""

    def __init__(self, machines: Mapping[str, Mapping[str, str]]) -> None:
        self._known = machines

    def drift_action(self, machine: str) -> str:
        if machine not in self._known:
            raise InstanceNotFound(f"no AKS machine {machine}")
        return self._known[machine].get("action") or ""

    def image(self, claim: Object) -> str | None:
        raise CloudProviderError("the question has no images of instances")

    def subnet(self, claim: Object) -> str | None:
        raise CloudProviderError("the question has no network interfaces")
