"""Changes that API servers of one version take or word as those of another do not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from harness.world import World


def suspended_job() -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"suspend": True, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}


@pytest.mark.parametrize(("kubernetes", "place"), [("1.35.0", "spec.template: "), ("1.36.0", "")])
def test_resources_of_a_suspended_job_are_free_from_1_36_on(kubernetes: str, place: str) -> None:
    """kubernetes pkg/features/kube_features.go: MutablePodResourcesForSuspendedJobs is alpha in 1.35 and on in 1.36."""
    world, job = World(kubernetes=kubernetes), suspended_job()
    assert world.apply(job) == []
    larger = copy.deepcopy(job)
    larger["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
    refused = world.apply(larger)
    assert [rejection.text.startswith(place) for rejection in refused] == ([True] if place else [])


@pytest.mark.parametrize("kubernetes", ["1.35.0", "1.36.0"])
def test_a_suspended_job_may_be_moved_on_every_version(kubernetes: str) -> None:
    world, job = World(kubernetes=kubernetes), suspended_job()
    assert world.apply(job) == []
    moved = copy.deepcopy(job)
    moved["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "fast"}
    assert world.apply(moved) == []


@pytest.mark.parametrize(
    ("kubernetes", "text"),
    [
        ("1.35.0", "parameters: Forbidden: updates to parameters are forbidden."),
        ("1.36.0", 'parameters: Invalid value: {"skuName":"b"}: field is immutable'),
    ],
)
def test_a_storage_class_is_refused_in_the_words_of_the_version(kubernetes: str, text: str) -> None:
    own = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "own"},
        "provisioner": "x.io/a",
    }
    world = World(kubernetes=kubernetes)
    assert world.apply({**own, "parameters": {"skuName": "a"}}) == []
    assert [rejection.text for rejection in world.apply({**own, "parameters": {"skuName": "b"}})] == [text]
