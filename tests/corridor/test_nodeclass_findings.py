"""What an AKSNodeClass says when Azure refuses to show its subnet, and which of two ways to write a version it takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.kube.api.objects import Object, condition
from harness.testing import nodeclass
from harness.world import World

MACHINES: Any = {"provision_mode": "aksmachineapi"}


def _stored(world: World) -> Object:
    found = world.get("AKSNodeClass", "default")
    assert found is not None
    return found


def _answered(monkeypatch: pytest.MonkeyPatch, status: int, body: Any) -> str:
    """What SubnetsReady says where Azure answers so to the question for the subnet."""
    world = World(karpenter="1.14.0")
    ask = world.cloud.request

    def request(method: str, path: str, **more: Any) -> Any:
        if method == "GET" and "/subnets/" in path:
            return SimpleNamespace(status=status, body=body)
        return ask(method, path, **more)

    monkeypatch.setattr(world.cloud, "request", request)
    world.apply(nodeclass())
    world.advance(1)
    found = condition(_stored(world), "SubnetsReady")
    assert found is not None
    assert (found["status"], found["reason"]) == ("False", "SubnetUnknownError")
    return str(found["message"]).removeprefix("unknown error getting subnet: ")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (403, {"error": {"code": "AuthorizationFailed", "message": "no access to it"}}, "no access to it"),
        (503, {"error": {}}, "503"),
        (503, {}, "503"),
        (503, None, "503"),
    ],
)
def test_the_error_for_a_subnet_is_told_in_azures_words_else_by_its_number(
    monkeypatch: pytest.MonkeyPatch, status: int, body: Any, said: str
) -> None:
    assert _answered(monkeypatch, status, body) == said


@pytest.mark.parametrize(("first", "later"), [("1.34", "1.34.0"), ("1.34.0", "1.34")])
def test_the_servers_version_is_taken_as_it_is_last_written(first: str, later: str) -> None:
    world = World(kubernetes=first)
    world.apply(nodeclass())
    world.settle()
    assert _stored(world)["status"]["kubernetesVersion"] == first
    world.upgrade_kubernetes(later)
    world.advance(1200)
    assert _stored(world)["status"]["kubernetesVersion"] == later


def _with_versions(monkeypatch: pytest.MonkeyPatch, *versions: str) -> list[str]:
    """The images of an AKSNodeClass where Azure lists these versions of each one, in this order."""
    world = World(options=MACHINES)
    ask = world.cloud.request

    def request(method: str, path: str, **more: Any) -> Any:
        answer = ask(method, path, **more)
        if path.endswith("/nodeImageVersions"):
            each = {item["sku"]: item for item in answer.body["value"]}.values()
            answer.body["value"] = [{**item, "version": version} for version in versions for item in each]
        return answer

    monkeypatch.setattr(world.cloud, "request", request)
    world.apply(nodeclass())
    world.settle()
    return [image["id"].rsplit("/", 1)[1] for image in _stored(world)["status"]["images"]]


@pytest.mark.parametrize(
    ("versions", "taken"),
    [
        (("202501.9.0", "202501.10.0"), "202501.10.0"),
        (("202501.10.0", "202501.9.0"), "202501.10.0"),
        (("202501.1.0", "202501.01.0"), "202501.1.0"),
        (("202501.01.0", "202501.1.0"), "202501.01.0"),
    ],
)
def test_the_first_of_equally_new_images_is_taken(
    monkeypatch: pytest.MonkeyPatch, versions: tuple[str, ...], taken: str
) -> None:
    assert set(_with_versions(monkeypatch, *versions)) == {taken}
