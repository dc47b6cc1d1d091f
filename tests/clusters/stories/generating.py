"""Draws stories: workloads with random strategies and budgets, and what happens to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.clusters.stories.story import BESIDE, NODES, Step, Story

__all__ = ["KINDS", "story"]

Object = dict[str, Any]


def story(kind: str, seed: int, number: int) -> Story:
    """The story of this number about a kind of workload."""
    random = Random(f"{seed} {kind} {number}")
    name = f"s{seed}-{kind.lower()}-{number}"
    return Story(name, kind, tuple(KINDS[kind](random)), _ZONES if kind == "NodeLoss" else {})


def _template(revision: int, **labels: str) -> Object:
    containers = [{"name": "c", "image": f"image:{revision}", "resources": {"requests": {"cpu": "100m"}}}]
    return {"metadata": {"labels": {"app": "web", "rev": str(revision), **labels}}, "spec": {"containers": containers}}


def _job_object(ends: str, **spec: Any) -> Object:
    template = _template(1, **({"ends": ends} if ends else {}))
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "web"},
        "spec": {"template": template, **spec},
    }


def _workload(kind: str, **spec: Any) -> Object:
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web"},
        "spec": {"selector": selector, "template": _template(1), **spec},
    }


def _budget(random: Random) -> Object:
    field = random.choice(["minAvailable", "maxUnavailable"])
    bound = random.choice([0, 1, 2, "50%", "30%"])
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {field: bound, "selector": {"matchLabels": {"app": "web"}}},
    }


def _patch(kind: str, **spec: Any) -> Step:
    return Step("patch", {"kind": kind, "name": "web", "patch": {"spec": spec}})


def _changed(random: Random, revision: int, *, broken: float = 0.2) -> Object:
    """A merge patch of a template; pods of a broken one are never ready."""
    made = _template(revision, **({"never-ready": "true"} if random.random() < broken else {}))
    made["metadata"]["labels"].setdefault("never-ready", None)
    return made


def _share(random: Random) -> Any:
    return random.choice([0, 1, 2, 3, "10%", "25%", "30%", "50%", "100%"])


def _on_nodes(random: Random) -> Step:
    if random.random() < 0.5:
        return Step("evict", random.choice([1, 2, 3]))
    return Step(random.choice(["cordon", "uncordon"]), random.choice(NODES))


def _deployment(random: Random) -> list[Step]:
    spec: Object = {"replicas": random.choice([1, 2, 3, 4, 5, 7, 10])}
    if random.random() < 0.25:
        spec["strategy"] = {"type": "Recreate"}
    elif random.random() < 0.8:
        surge, unavailable = _share(random), _share(random)
        if str(surge) in ("0", "0%") and str(unavailable) in ("0", "0%"):
            surge = 1
        spec["strategy"] = {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
        }
    if random.random() < 0.3:
        spec["minReadySeconds"] = 2
    if random.random() < 0.3:
        spec["revisionHistoryLimit"] = random.choice([0, 1, 2])
    if random.random() < 0.2:
        spec["paused"] = True
    first = [_workload("Deployment", **spec)]
    if random.random() < 0.4:
        first.insert(0, _budget(random))
    steps = [Step("apply", first)]
    for revision in range(2, random.choice([4, 5, 6])):
        steps.append(_change_of_deployment(random, revision))
    return steps


def _change_of_deployment(random: Random, revision: int) -> Step:
    drawn = random.random()
    if drawn < 0.45:
        template = _changed(random, random.choice([revision, revision, 1]))
        more = {"replicas": random.choice([1, 3, 6])} if random.random() < 0.2 else {}
        return _patch("Deployment", template=template, **more)
    if drawn < 0.65:
        return _patch("Deployment", replicas=random.choice([0, 1, 2, 4, 6, 9]))
    if drawn < 0.8:
        return _patch("Deployment", paused=random.choice([True, False]))
    return _on_nodes(random)


def _stateful_set(random: Random) -> list[Step]:
    spec: Object = {"replicas": random.choice([1, 2, 3, 4, 5]), "serviceName": "web"}
    if random.random() < 0.4:
        spec["podManagementPolicy"] = "Parallel"
    drawn = random.random()
    if drawn < 0.2:
        spec["updateStrategy"] = {"type": "OnDelete"}
    elif drawn < 0.6:
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"partition": random.choice([0, 1, 2, 4])}}
    if random.random() < 0.25:
        spec["minReadySeconds"] = 2
    if random.random() < 0.25:
        spec["ordinals"] = {"start": 3}
    first = [_workload("StatefulSet", **spec)]
    if random.random() < 0.4:
        first.insert(0, _budget(random))
    steps = [Step("apply", first)]
    ordinal = spec.get("ordinals", {"start": 0})["start"]
    for revision in range(2, random.choice([4, 5, 6])):
        steps.append(_change_of_stateful_set(random, revision, ordinal))
    return steps


def _change_of_stateful_set(random: Random, revision: int, ordinal: int) -> Step:
    drawn = random.random()
    if drawn < 0.4:
        return _patch("StatefulSet", template=_changed(random, random.choice([revision, revision, 1]), broken=0.15))
    if drawn < 0.6:
        return _patch("StatefulSet", replicas=random.choice([0, 1, 2, 3, 5]))
    if drawn < 0.75:
        partition = {"rollingUpdate": {"partition": random.choice([0, 1, 3])}, "type": "RollingUpdate"}
        return _patch("StatefulSet", updateStrategy=partition)
    if drawn < 0.85:
        return Step("delete", {"kind": "Pod", "name": f"web-{ordinal}"})
    return _on_nodes(random)


def _daemon_set(random: Random) -> list[Step]:
    spec: Object = {}
    drawn = random.random()
    if drawn < 0.2:
        spec["updateStrategy"] = {"type": "OnDelete"}
    elif drawn < 0.5:
        spec["updateStrategy"] = {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": random.choice([1, 2, "50%", "100%"])},
        }
    elif drawn < 0.8:
        update = {"maxUnavailable": 0, "maxSurge": random.choice([1, 2, "50%", "100%"])}
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": update}
    if random.random() < 0.25:
        spec["minReadySeconds"] = 2
    steps = [Step("apply", [_workload("DaemonSet", **spec)])]
    for revision in range(2, random.choice([4, 5, 6])):
        if random.random() < 0.6:
            template = _changed(random, random.choice([revision, revision, 1]))
            steps.append(_patch("DaemonSet", template=template))
        else:
            steps.append(Step(random.choice(["cordon", "uncordon", "taint", "untaint"]), random.choice(NODES)))
    return steps


_LATER = 60
"""Seconds of deadlines and times to live: more than a rest after the first step takes on the real control plane."""


def _job(random: Random) -> list[Step]:
    indexed = random.random() < 0.5
    ends = random.choice(["Succeeded", "Succeeded", "Failed", "", "odd-fail"])
    spec: Object = {"parallelism": random.choice([1, 2, 3]), "backoffLimit": random.choice([0, 1])}
    if indexed or random.random() < 0.8:
        spec["completions"] = random.choice([1, 2, 3, 5])
    if indexed:
        spec["completionMode"] = "Indexed"
        spec |= _limits_of_indexes(random)
        if random.random() < 0.25:
            spec["successPolicy"] = {"rules": [random.choice([{"succeededCount": 1}, {"succeededIndexes": "0"}])]}
    if random.random() < 0.3:
        spec["podFailurePolicy"] = {"rules": [_failure_rule(random, ends, "backoffLimitPerIndex" in spec)]}
    elif random.random() < 0.3:
        spec["podReplacementPolicy"] = random.choice(["Failed", "TerminatingOrFailed"])
    if random.random() < 0.25:
        spec["suspend"] = True
    waits = random.random() < 0.4
    if waits:
        spec[random.choice(["activeDeadlineSeconds", "ttlSecondsAfterFinished"])] = _LATER
    steps = [Step("apply", [_job_object(ends, **spec)]), *([Step("wait", _LATER + 15)] if waits else [])]
    return [*steps, *(_change_of_job(random) for _ in range(random.choice([1, 2, 3])))]


def _limits_of_indexes(random: Random) -> Object:
    if random.random() < 0.5:
        return {}
    limits: Object = {"backoffLimitPerIndex": random.choice([0, 1]), "backoffLimit": 6}
    return {**limits, "maxFailedIndexes": random.choice([0, 1])} if random.random() < 0.4 else limits


def _failure_rule(random: Random, ends: str, per_index: bool) -> Object:
    """A rule about exit codes or disruptions; pods that always fail are never ignored, for they would be made for ever."""
    actions = ["Count", "FailJob", *(["FailIndex"] if per_index else [])]
    if random.random() < 0.5:
        return {
            "action": random.choice(actions),
            "onExitCodes": {"operator": random.choice(["In", "NotIn"]), "values": [1]},
        }
    ignores = [] if ends in ("Failed", "odd-fail") else ["Ignore"]
    return {
        "action": random.choice([*actions, *ignores]),
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }


def _change_of_job(random: Random) -> Step:
    drawn = random.random()
    if drawn < 0.35:
        return Step(
            "patch", {"kind": "Job", "name": "web", "patch": {"spec": {"suspend": random.choice([True, False])}}}
        )
    if drawn < 0.55:
        return Step(
            "patch", {"kind": "Job", "name": "web", "patch": {"spec": {"parallelism": random.choice([0, 1, 2, 4])}}}
        )
    if drawn < 0.65:
        return Step("delete", {"kind": "Job", "name": "web"})
    return Step("evict", random.choice([1, 2]))


def _cron_job(random: Random) -> list[Step]:
    ends = random.choice(["Succeeded", "Failed", "", ""])
    job = _job_object(ends, backoffLimit=0)["spec"]
    spec: Object = {"schedule": "* * * * *", "jobTemplate": {"spec": job}}
    spec["concurrencyPolicy"] = random.choice(["Allow", "Forbid", "Replace"])
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        if random.random() < 0.6:
            spec[field] = random.choice([0, 1])
    if random.random() < 0.3:
        spec["startingDeadlineSeconds"] = random.choice([15, 200])
    if random.random() < 0.2:
        spec["timeZone"] = random.choice(["Europe/Berlin", "Asia/Kathmandu"])
    made = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "web"}, "spec": spec}
    steps = [Step("apply", [made]), Step("wait", 120)]
    if random.random() < 0.5:
        steps.append(Step("patch", {"kind": "CronJob", "name": "web", "patch": {"spec": {"suspend": True}}}))
    if random.random() < 0.5:
        steps.append(Step("delete", {"kind": "CronJob", "name": "web"}))
    return steps


def _autoscaler(random: Random) -> list[Step]:
    target = random.choice(["Deployment", "Deployment", "StatefulSet"])
    more: Object = {"serviceName": "web", "podManagementPolicy": "Parallel"} if target == "StatefulSet" else {}
    replicas = random.choice([1, 2, 3, 4])
    spec: Object = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": target, "name": "web"},
        "minReplicas": random.choice([1, 2]),
        "maxReplicas": random.choice([3, 6, 10]),
        "metrics": [_metric(random)],
    }
    if random.random() < 0.25:
        spec["metrics"].append(random.choice(_UNSERVED) if random.random() < 0.5 else _metric(random))
    down = _rules(random, [20, 45])
    spec["behavior"] = {"scaleDown": down}
    if random.random() < 0.5:
        spec["behavior"]["scaleUp"] = _rules(random, [0, 30])
    made = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": spec,
    }
    steps = [Step("apply", [_workload(target, replicas=replicas, **more)])]
    steps.append(_loaded(random, target, 1))
    steps += [Step("apply", [made]), Step("wait", 70)]
    return [*steps, *(_loaded(random, target, 110) for _ in range(2))]


def _loaded(random: Random, target: str, seconds: int) -> Step:
    share = random.choice(["5%", "20%", "45%", "60%", "100%", "150%", "230%", "400%"])
    return Step("load", {"of": {f"{target}/web": share}, "seconds": seconds})


_UNSERVED: tuple[Object, ...] = (
    {"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "3"}}},
    {"type": "Pods", "pods": {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "3"}}},
)
"""Metrics of APIs that no cluster with metrics-server alone has."""


def _metric(random: Random) -> Object:
    target = random.choice(
        [
            {"type": "Utilization", "averageUtilization": random.choice([40, 60, 80])},
            {"type": "AverageValue", "averageValue": random.choice(["50m", "90m"])},
        ]
    )
    if random.random() < 0.2:
        return {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": target}}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _rules(random: Random, windows: list[int]) -> Object:
    rules: Object = {"stabilizationWindowSeconds": random.choice(windows)}
    if random.random() < 0.5:
        policies = [
            {"type": "Pods", "value": random.choice([1, 2]), "periodSeconds": random.choice([20, 40])},
            {"type": "Percent", "value": random.choice([50, 100]), "periodSeconds": random.choice([20, 40])},
        ]
        rules["policies"] = policies if random.random() < 0.5 else policies[:1]
        rules["selectPolicy"] = random.choice(["Max", "Min", "Disabled"])
    if random.random() < 0.3:
        rules["tolerance"] = random.choice(["0", "300m"])
    return rules


_SEEN = 8
"""Seconds in which the real controller looks at each node at least once, and less than pass between the taints of two."""
_ZONES: Mapping[str, str] = {"a": "1", "b": "1", "c": "1", "d": "1", BESIDE: "2"}
"""Nodes that are lost, and one that is ready all the time, so that the cluster never has none."""
_LOST = [letter for letter in _ZONES if letter != BESIDE]


def _node_loss(random: Random) -> list[Step]:
    """One, two, most or all nodes of a zone, with one pod for each node, so that it is no chance whom a loss concerns."""
    kind = random.choice(["Deployment", "StatefulSet", "DaemonSet"])
    number = random.choice([1, 1, 2, 3, 4])
    lost = sorted(random.sample(_LOST, number))
    tolerated = 20 * number
    spec: Object = {} if kind == "DaemonSet" else {"replicas": len(_LOST)}
    if kind == "StatefulSet":
        spec |= {"serviceName": "web", "podManagementPolicy": "Parallel"}
    made = _workload(kind, **spec)
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    pod = made["spec"]["template"]["spec"]
    pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pod["tolerations"] = [
        {
            "key": f"node.kubernetes.io/{state}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": tolerated,
        }
        for state in ("not-ready", "unreachable")
    ]
    first = [made, *([_budget(random)] if random.random() < 0.5 else [])]
    state = random.choice(["Unknown", "False"])
    steps = [Step("apply", first), Step("lose", {"nodes": lost, "ready": state, "seconds": _SEEN})]
    if number > 1:
        steps += [Step("wait", 10 * number)]  # by then each has had its turn, and no pod has gone
    if number == 3:  # more than half: none has a turn until one of them is back
        steps += [Step("lose", {"nodes": lost[:1], "ready": "True", "seconds": _SEEN}), Step("wait", 20)]
    if random.random() < 0.5:
        steps += [Step("wait", tolerated + 10)]
    return [*steps, Step("lose", {"nodes": lost, "ready": "True", "seconds": 30})]


KINDS: Mapping[str, Callable[[Random], list[Step]]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": _job,
    "CronJob": _cron_job,
    "HorizontalPodAutoscaler": _autoscaler,
    "NodeLoss": _node_loss,
}
"""How the steps of a story about each kind are drawn."""
