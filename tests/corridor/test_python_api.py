"""The World as tests in Python use it: what `apply` reads, and what `settle` does not keep to itself."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from harness import ObjectsRefused, World
from harness.reading.problems import ScenarioError
from harness.testing import daemonset, deployment, nodeclass, nodepool, pod, requirement

CLASS = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: {}\n"
POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec:
  weight: 10
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
"""
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "1"}}}]},
}
BAD = POOL.replace("weight: 10", "weight: 101")


def test_text_paths_and_mappings(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "pool.yaml").write_text(f"{CLASS}---\n{POOL}")
    (tmp_path / "pod.json").write_text(json.dumps(POD | {"metadata": {"name": "file"}}))
    for sources in ((tmp_path,), (tmp_path / "deep/pool.yaml", str(tmp_path / "pod.json")), (f"{CLASS}---\n{POOL}",)):
        world = World()
        assert world.apply(*sources, POD, json.dumps(POD | {"metadata": {"name": "text"}})) == []
        world.settle()
        assert all(pod["spec"]["nodeName"] for pod in world.list("Pod"))
        assert world.get("NodePool", "web")
        assert {pod["metadata"]["name"] for pod in world.list("Pod")} >= {"web", "text"}
        assert (world.get("Pod", "file") is not None) == (len(sources) == 2 or sources == (tmp_path,))


def test_what_cannot_be_read_is_told_with_its_place_and_nothing_is_applied(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("kind: Pod\n")
    world = World()
    with pytest.raises(ScenarioError) as error:
        world.apply(CLASS, tmp_path / "bad.yaml", str(tmp_path / "none.yaml"), "kind: Pod\n")
    lines = str(error.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        f"{tmp_path}/bad.yaml:1:1",
        f"{tmp_path}/none.yaml:1:1",
        "text:1:1",
    ]
    assert world.get("AKSNodeClass", "default") is None
    with pytest.raises(TypeError):
        world.apply(7)  # type: ignore[arg-type]


def test_settle_names_every_refusal_with_layer_and_words() -> None:
    world = World()
    answered = world.apply(
        CLASS, BAD, BAD.replace("name: web", "name: db"), "apiVersion: v2\nkind: Pod\nmetadata: {name: x}\n"
    )
    with pytest.raises(ObjectsRefused) as error:
        world.settle()
    assert list(error.value.rejections) == answered
    assert str(error.value).splitlines() == [
        "NodePool/web: crd-schema: spec.weight: Invalid value: 101: spec.weight in body should be less than or equal to 100",
        "NodePool/db: crd-schema: spec.weight: Invalid value: 101: spec.weight in body should be less than or equal to 100",
        'Pod/x: api-server: no matches for kind "Pod" in version "v2"',
    ]
    assert pickle.loads(pickle.dumps(error.value)).rejections == error.value.rejections


def test_what_was_told_once_or_asked_for_is_not_told_again() -> None:
    world = World()
    world.apply(CLASS, BAD)
    assert world.settle(allow_rejections=True).quiescent
    assert world.settle().quiescent
    world.apply(POOL.replace("requirements: []", "requirements: [{key: kubernetes.io/hostname, operator: Exists}]"))
    with pytest.raises(ObjectsRefused, match=r"^NodePool/web: crd-cel: .*hostname"):
        world.settle()


def test_a_refused_nodeclaim_is_a_mistake_and_a_refused_launch_is_not() -> None:
    """Karpenter tries another size or zone after a refused launch, as in a scenario file nobody needs to ask for it."""
    world = World(azure={"faults": [{"what": "SkuNotAvailable", "times": 1}]})
    world.apply(CLASS, POOL, POD)
    world.settle()
    assert any(call.status >= 400 for call in world.calls())
    assert (world.get("Pod", "web") or {})["spec"]["nodeName"]


def test_objects_to_test_with_are_taken_as_they_are() -> None:
    world = World()
    taint = {"key": "batch", "effect": "NoSchedule"}
    pool = nodepool(
        requirement("kubernetes.io/arch", "amd64"), labels={"team": "a"}, taints=[taint], limits={"cpu": "9"}
    )
    objects = [nodeclass(imageFamily="AzureLinux"), pool, pod("one"), deployment("two", 2), daemonset()]
    assert world.apply(*objects) == []
    template = world.list("NodePool")[0]["spec"]["template"]
    assert (template["spec"]["taints"], template["metadata"]["labels"]) == ([taint], {"team": "a"})
    assert world.list("NodePool")[0]["spec"]["limits"] == {"cpu": "9"}
