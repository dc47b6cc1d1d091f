"""Takes a step of a story on any cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from harness.engine.ports import View, Writer
from harness.kube.api.objects import Object, condition_is, is_terminating, labels_of, name_of, spec_of
from harness.kube.api.status import ApiError
from tests.clusters.stories.story import BESIDE, Step, Story, placed

__all__ = ["first_objects", "take"]

_KEEP_OFF = "example.com/keep-off"


def first_objects(story: Story) -> list[Object]:
    """The namespace and the nodes of a story."""
    found: list[Object] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": story.name}}]
    return [*found, *(_node(story, letter) for letter in story.nodes)]


def _node(story: Story, letter: str) -> dict[str, Any]:
    name = f"{story.name}-{letter}"
    labels = {"kubernetes.io/hostname": name}
    if letter != BESIDE:
        labels["story"] = story.name
    if story.zones:
        labels["topology.kubernetes.io/zone"] = f"{story.name}-{story.zones[letter]}"
    room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "", "lastHeartbeatTime": None}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": room, "allocatable": room, "conditions": [ready]},
    }


def take(step: Step, story: Story, view: View, writer: Writer) -> list[str]:
    """Takes it; returns what the API server said where that may differ."""
    value, place = step.value, story.name
    if step.verb == "apply":
        for obj in value:
            writer.create(placed(obj, story))
    elif step.verb == "patch":
        answers = _asked(lambda: writer.patch(value["kind"], value["name"], value["patch"], namespace=place))
        return [answer for answer in answers if answer != "done"]
    elif step.verb == "delete":
        return _asked(lambda: writer.delete(value["kind"], value["name"], namespace=place))
    elif step.verb in ("cordon", "uncordon"):
        mark = {"unschedulable": True if step.verb == "cordon" else None}
        writer.patch("Node", f"{place}-{value}", {"spec": mark}, type="strategic")
    elif step.verb in ("taint", "untaint"):
        own = [{"key": _KEEP_OFF, "effect": "NoExecute"}] if step.verb == "taint" else []
        _retaint(f"{place}-{value}", own, view, writer)
    elif step.verb == "evict":
        return _evict(value, place, view, writer)
    elif step.verb == "lose":
        ready = {"type": "Ready", "status": value["ready"], "reason": "Told", "message": ""}
        for letter in value.get("nodes") or [value["node"]]:
            node = f"{place}-{letter}"
            writer.patch("Node", node, {"status": {"conditions": [ready]}}, type="strategic", subresource="status")
    elif step.verb == "remove":
        writer.delete("Node", f"{place}-{value}")
    return []


def _retaint(node: str, own: list[dict[str, str]], view: View, writer: Writer) -> None:
    """Sets our taint of a node, and leaves those of others."""
    present = view.get("Node", node)
    others = [each for each in spec_of(present or {}).get("taints") or () if each["key"] != _KEEP_OFF]
    writer.patch("Node", node, {"spec": {"taints": [*others, *own] or None}})


def _evict(count: int, namespace: str, view: View, writer: Writer) -> list[str]:
    """Evicts so many pods, those of the first revision first, and of ordinals the highest: which node a pod is on is chance."""
    pods = [pod for pod in view.list("Pod", namespace=namespace) if not is_terminating(pod)]
    pods.sort(key=name_of, reverse=True)
    pods.sort(key=lambda pod: (labels_of(pod).get("rev", ""), not condition_is(pod, "Ready")))
    answers: list[str] = []
    for pod in pods[:count]:
        answers += _asked(partial(writer.evict, name_of(pod), namespace))
    return answers


def _asked(ask: Callable[[], object]) -> list[str]:
    """The API server's answer to a request that it may refuse."""
    try:
        ask()
    except ApiError as error:
        return [str(error.code)]
    return ["done"]
