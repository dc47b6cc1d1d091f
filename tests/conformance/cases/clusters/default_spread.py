"""Topology spread for pods that ask for none (`--scheduler-config`), with the Services and controllers that select them."""

from __future__ import annotations

import copy

from tests.conformance.cases.clusters.scene import DEFAULT, HOST, ZONE, Json
from tests.conformance.cases.draw import Draw

__all__ = ["with_default_spread"]

SHARE = 0.2
_CONTROLLERS = (
    ("replicasets", "apps/v1", "ReplicaSet"),
    ("statefulsets", "apps/v1", "StatefulSet"),
    ("replicationcontrollers", "v1", "ReplicationController"),
    ("", "batch/v1", "Job"),
)
"""Key of a case, apiVersion and kind; of Jobs nobody reads a selector."""


def with_default_spread(draw: Draw, case: Json) -> Json:
    """The case, one time in five with constraints for pods without; some selectors disagree, some controllers are gone."""
    if not draw.chance(SHARE):
        return case
    made: Json = {**case, "pods": copy.deepcopy(case["pods"])}
    made["options"] = {**case["options"], "defaultConstraints": _constraints(draw)}
    controllers: dict[str, list[Json]] = {}
    for app in sorted({_app(pod) for pod in made["pods"]}):
        if draw.chance(0.6):
            made.setdefault("services", []).append(_service(draw, app))
        if draw.chance(0.7):
            _control(draw, app, [pod for pod in made["pods"] if _app(pod) == app], controllers)
    return {**made, **controllers}


def _app(pod: Json) -> str:
    return str((pod["metadata"].get("labels") or {}).get("app") or "")


def _namespace(pod: Json) -> str:
    return str(pod["metadata"].get("namespace") or DEFAULT)


def _constraints(draw: Draw) -> list[Json]:
    found = []
    for key in draw.some([ZONE, HOST, "karpenter.sh/capacity-type"], 1, 2):
        when = draw.choice(["DoNotSchedule", "ScheduleAnyway"])
        found.append({"maxSkew": draw.choice([1, 1, 2, 3]), "topologyKey": key, "whenUnsatisfiable": when})
    return found


def _selector(draw: Draw, app: str) -> Json:
    return draw.choice([{"app": app}] * 5 + [{"app": app, "tier": "web"}, {"tier": "db"}, {"app": "nobody"}])


def _service(draw: Draw, app: str) -> Json:
    selector = draw.choice([_selector(draw, app)] * 6 + [{}, None])
    namespace = DEFAULT if draw.chance(0.9) else "other"
    return {
        "metadata": {"name": f"{app or 'none'}-service", "namespace": namespace},
        "spec": {} if selector is None else {"selector": selector},
    }


def _control(draw: Draw, app: str, pods: list[Json], controllers: dict[str, list[Json]]) -> None:
    """Let a controller own the pods of an app, which it selects, does not select, or which is gone."""
    key, version, kind = draw.choice(_CONTROLLERS)
    name = f"{app or 'none'}-{kind.lower()}"
    for pod in pods:
        if not pod["metadata"].get("ownerReferences"):
            owner = {"apiVersion": version, "kind": kind, "name": name, "controller": True}
            pod["metadata"]["ownerReferences"] = [{**owner, "uid": f"{name}-{_namespace(pod)}"}]
    if not key or draw.chance(0.1):
        return
    selector = _selector(draw, app)
    if kind != "ReplicationController":
        expression = {"key": "tier", "operator": draw.choice(["Exists", "DoesNotExist"])}
        selector = {"matchLabels": selector, **({"matchExpressions": [expression]} if draw.chance(0.2) else {})}
    for namespace in sorted({_namespace(pod) for pod in pods}):
        workload = {"metadata": {"name": name, "namespace": namespace, "uid": f"{name}-{namespace}"}}
        controllers.setdefault(key, []).append({**workload, "spec": {"selector": selector}})
