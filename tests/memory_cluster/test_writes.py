"""Create, read, update, patch, delete: what the API server keeps, counts and refuses."""

from contextlib import suppress
from typing import Any

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Change
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.objects import Key
from harness.kube.api.status import ApiError
from harness.testing import deployment, nodepool, pod
from harness.world.recorder import Recorder

Object = dict[str, Any]


def config(name: str = "c", **fields: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}, **fields}


def refusal(call: Any) -> tuple[int, str, str]:
    with pytest.raises(ApiError) as caught:
        call()
    status = caught.value.status
    assert status["kind"] == "Status"
    assert status["status"] == "Failure"
    return status["code"], status["reason"], status["message"]


def test_a_created_object_gets_its_metadata_from_the_server(cluster):
    stored = cluster.admin.create(config())
    meta = stored["metadata"]
    assert meta["namespace"] == "default"
    assert meta["uid"]
    assert meta["resourceVersion"]
    assert meta["creationTimestamp"].endswith("Z")
    assert cluster.view.get("ConfigMap", "c", "default")["data"] == {"a": "1"}


def test_two_objects_never_share_uid_or_version(cluster):
    first, second = cluster.admin.create(config("a")), cluster.admin.create(config("b"))
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])


def test_a_generated_name_that_is_taken_is_drawn_again(cluster, monkeypatch):
    drawn = iter(["aaaaa", "aaaaa", "aaaaa", "bbbbb"])
    monkeypatch.setattr(Ids, "generate_name", lambda self, base: base + next(drawn))
    names = [cluster.admin.create({**config(), "metadata": {"generateName": "x-"}})["metadata"]["name"] for _ in "ab"]
    assert names == ["x-aaaaa", "x-bbbbb"]


def test_generate_name_appends_five_characters(cluster):
    names = {
        cluster.admin.create({**config(), "metadata": {"generateName": "x-"}})["metadata"]["name"] for _ in range(20)
    }
    assert len(names) == 20
    assert all(name.startswith("x-") and len(name) == 7 for name in names)


def test_a_taken_name_is_a_conflict(cluster):
    cluster.admin.create(config())
    assert refusal(lambda: cluster.admin.create(config())) == (409, "AlreadyExists", 'configmaps "c" already exists')


def test_dry_run_stores_nothing(cluster):
    cluster.admin.create(config(), dry_run=True)
    assert cluster.view.get("ConfigMap", "c", "default") is None


def test_what_is_not_there_is_not_found(cluster):
    expected = (404, "NotFound", 'pods "p" not found')
    assert refusal(lambda: cluster.admin.delete("Pod", "p", namespace="default")) == expected
    assert refusal(lambda: cluster.admin.patch("Pod", "p", {}, namespace="default")) == expected
    missing = 'nodepools.karpenter.sh "np" not found'
    assert refusal(lambda: cluster.admin.delete("NodePool", "np")) == (404, "NotFound", missing)


def test_an_update_with_an_old_version_is_a_conflict(cluster):
    old = cluster.admin.create(config())
    cluster.admin.patch("ConfigMap", "c", {"data": {"a": "2"}}, namespace="default")
    code, reason, message = refusal(lambda: cluster.admin.update({**old, "data": {"a": "3"}}))
    assert (code, reason) == (409, "Conflict")
    assert "the object has been modified" in message
    assert cluster.view.get("ConfigMap", "c", "default")["data"] == {"a": "2"}


def test_an_update_cannot_change_what_the_server_keeps(cluster):
    stored = cluster.admin.create(config())
    new = {**stored, "metadata": {**stored["metadata"], "creationTimestamp": "1999-01-01T00:00:00Z"}, "data": {}}
    del new["metadata"]["uid"]
    updated = cluster.admin.update(new)
    assert updated["metadata"]["creationTimestamp"] == stored["metadata"]["creationTimestamp"]
    assert updated["metadata"]["uid"] == stored["metadata"]["uid"]


def test_a_write_that_changes_nothing_has_no_version(cluster):
    stored = cluster.admin.create(config())
    same = cluster.admin.patch("ConfigMap", "c", {"data": {"a": "1"}}, namespace="default")
    assert same["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]


def test_generation_counts_changes_of_the_spec_only(cluster):
    admin = cluster.admin
    assert admin.create(deployment("d", 0))["metadata"]["generation"] == 1
    labelled = admin.patch("Deployment", "d", {"metadata": {"labels": {"x": "y"}}}, namespace="default")
    assert labelled["metadata"]["generation"] == 1
    status = {"status": {"replicas": 7}}
    assert (
        admin.patch("Deployment", "d", status, namespace="default", subresource="status")["metadata"]["generation"] == 1
    )
    assert admin.scale("Deployment", "d", "default", 2)["metadata"]["generation"] == 2


@pytest.mark.parametrize(("kind", "counts"), [("Namespace", False), ("ConfigMap", False), ("Pod", True)])
def test_what_counts_its_changes(cluster, kind: str, counts: bool):
    """Strategies in pkg/registry/core that set no generation; that of a Pod does (pod/strategy.go, PrepareForCreate)."""
    metadata = {"name": "a"} if kind == "Namespace" else {"name": "a", "namespace": "default"}
    made = pod("a") if kind == "Pod" else {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    assert ("generation" in cluster.admin.create(made)["metadata"]) is counts


def test_status_is_written_only_through_its_subresource(cluster):
    admin = cluster.admin
    admin.create({**deployment("d", 0), "status": {"replicas": 3}})
    assert "replicas" not in (cluster.view.get("Deployment", "d", "default").get("status") or {})
    admin.patch("Deployment", "d", {"status": {"replicas": 3}}, namespace="default")
    assert "replicas" not in (cluster.view.get("Deployment", "d", "default").get("status") or {})
    both = {"status": {"replicas": 3}, "spec": {"paused": True}}
    stored = admin.patch("Deployment", "d", both, namespace="default", subresource="status")
    assert stored["status"]["replicas"] == 3
    assert "paused" not in stored["spec"]


PATCHES = [
    ("merge", {"data": {"a": None, "b": "2"}}, {"b": "2"}),
    ("merge", {"data": None}, None),
    ("strategic", {"data": {"b": "2"}}, {"a": "1", "b": "2"}),
    ("strategic", {"data": {"$patch": "replace", "b": "2"}}, {"b": "2"}),
    ("json", [{"op": "replace", "path": "/data/a", "value": "9"}], {"a": "9"}),
    ("json", [{"op": "add", "path": "/data/x~1y", "value": "9"}, {"op": "remove", "path": "/data/a"}], {"x/y": "9"}),
    (
        "json",
        [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "move", "from": "/data/a", "path": "/data/b"}],
        {"b": "1"},
    ),
    ("json", [{"op": "copy", "from": "/data/a", "path": "/data/b"}], {"a": "1", "b": "1"}),
]


@pytest.mark.parametrize(("kind", "patch", "expected"), PATCHES)
def test_patches(cluster, kind, patch, expected):
    cluster.admin.create(config())
    stored = cluster.admin.patch("ConfigMap", "c", patch, namespace="default", type=kind)
    assert stored.get("data") == expected


def test_a_json_patch_whose_test_fails_changes_nothing(cluster):
    cluster.admin.create(config())
    patch = [{"op": "test", "path": "/data/a", "value": "2"}, {"op": "remove", "path": "/data/a"}]
    code, _, _ = refusal(lambda: cluster.admin.patch("ConfigMap", "c", patch, namespace="default", type="json"))
    assert code in (400, 422)
    assert cluster.view.get("ConfigMap", "c", "default")["data"] == {"a": "1"}


def test_strategic_merge_knows_the_keyed_lists_and_replaces_the_others(cluster):
    admin = cluster.admin
    admin.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n"},
            "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
            "status": {
                "conditions": [{"type": "Ready", "status": "False"}, {"type": "DiskPressure", "status": "False"}]
            },
        }
    )
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    conditions = admin.patch("Node", "n", ready, type="strategic", subresource="status")["status"]["conditions"]
    assert [(each["type"], each["status"]) for each in conditions] == [("Ready", "True"), ("DiskPressure", "False")]
    taints = {"spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]}}
    assert [each["key"] for each in admin.patch("Node", "n", taints, type="strategic")["spec"]["taints"]] == ["b"]


def test_custom_resources_take_no_strategic_patch(cluster):
    code, reason, _ = refusal(lambda: cluster.admin.patch("NodePool", "x", {}, type="strategic"))
    assert (code, reason) == (415, "UnsupportedMediaType")


def test_finalizers_hold_a_deleted_object(cluster):
    admin = cluster.admin
    admin.create({**config(), "metadata": {"name": "c", "finalizers": ["example.com/wait"]}})
    admin.delete("ConfigMap", "c", namespace="default")
    held = cluster.view.get("ConfigMap", "c", "default")
    assert held["metadata"]["deletionTimestamp"]
    admin.patch("ConfigMap", "c", {"metadata": {"finalizers": None}}, namespace="default")
    assert cluster.view.get("ConfigMap", "c", "default") is None


def test_deletion_has_preconditions(cluster):
    cluster.admin.create(config())
    code, reason, _ = refusal(lambda: cluster.admin.delete("ConfigMap", "c", namespace="default", uid="other"))
    assert (code, reason) == (409, "Conflict")
    assert cluster.view.get("ConfigMap", "c", "default") is not None


SELECTORS = [
    ("a=1", {"x", "y"}),
    ("a==1,b=2", {"y"}),
    ("a!=1", {"z"}),
    ("b", {"y"}),
    ("!b", {"x", "z"}),
    ("a in (1,3)", {"x", "y"}),
    ("a notin (1, 3)", {"z"}),
    ({"a": "2"}, {"z"}),
]


@pytest.mark.parametrize(("selector", "expected"), SELECTORS)
def test_label_selectors(cluster, selector, expected):
    for name, labels in (("x", {"a": "1"}), ("y", {"a": "1", "b": "2"}), ("z", {"a": "2"})):
        cluster.admin.create({**config(), "metadata": {"name": name, "namespace": "default", "labels": labels}})
    found = cluster.view.list("ConfigMap", namespace="default", labels=selector)
    assert {each["metadata"]["name"] for each in found} == expected


def test_field_selectors(cluster):
    for name in ("x", "y"):
        cluster.admin.create(config(name))
    assert [each["metadata"]["name"] for each in cluster.view.list("ConfigMap", fields="metadata.name=y")] == ["y"]
    assert refusal(lambda: cluster.view.list("ConfigMap", fields="data.a=1"))[0] == 400


def test_changes_resume_where_a_reader_stopped(cluster):
    before = cluster.view.revision
    cluster.admin.create(config())
    middle = cluster.view.revision
    cluster.admin.patch("ConfigMap", "c", {"data": {"a": "2"}}, namespace="default")
    cluster.admin.delete("ConfigMap", "c", namespace="default")

    def types(since: int) -> list[str]:
        changes: list[Change] = list(cluster.view.changes(since, "ConfigMap"))
        return [change.type.value for change in changes]

    assert types(before) == ["ADDED", "MODIFIED", "DELETED"]
    assert types(middle) == ["MODIFIED", "DELETED"]
    assert types(cluster.view.revision) == []


def test_unknown_kinds_are_not_served(cluster):
    code, reason, _ = refusal(
        lambda: cluster.admin.create({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})
    )
    assert (code, reason) == (404, "NotFound")


def test_what_is_handed_out_does_not_change_later(cluster):
    stored = cluster.admin.create(config())
    sent = config("other")
    cluster.admin.create(sent)
    sent["data"]["a"] = "changed by the caller"
    cluster.admin.patch("ConfigMap", "c", {"data": {"a": "2"}}, namespace="default")
    assert stored["data"] == {"a": "1"}
    assert cluster.view.get("ConfigMap", "other", "default")["data"] == {"a": "1"}


def test_the_journal_has_the_same_entries_whenever_it_is_read():
    """They are made when somebody asks for them."""

    def written(*, often: bool):
        engine = Engine(Clock())
        rng = Rng(0)
        memory = MemoryCluster(
            engine, rng, Ids(rng), Recorder(engine.clock), crds=crd_set("1.14.0"), kubernetes="1.35.0"
        )
        admin = memory.writer(ADMIN)
        admin.create(deployment("web", 2))
        for labels in ({"a": "b"}, {"a": "not a value"}, {"a": "c"}):
            with suppress(ApiError):
                admin.patch("Deployment", "web", {"metadata": {"labels": labels}}, namespace="default")
            engine.settle()
            if often:
                assert list(memory.journal)
                assert memory.journal.entries_about(Key("Deployment", "default", "web"))
        assert len(memory.journal) == len(list(memory.journal))
        admin.delete("Deployment", "web", namespace="default")
        return list(memory.journal), memory.journal.entries_about(Key("Deployment", "default", "web"))

    entries, own = written(often=True)
    again, own_again = written(often=False)
    assert [(each.verb, each.key, each.after, each.object) for each in entries] == [
        (each.verb, each.key, each.after, each.object) for each in again
    ]
    assert [each.verb for each in own] == [each.verb for each in own_again]
    assert (own[0].verb, own[-1].verb, own[0].before, own[-1].after) == ("create", "delete", None, None)
    assert [each.error is not None for each in own].count(True) == 1


@pytest.mark.parametrize(
    "write",
    [
        lambda admin: admin.update({**config(), "kind": "Thing"}),
        lambda admin: admin.patch("Thing", "c", {}),
        lambda admin: admin.delete("Thing", "c"),
        lambda admin: admin.scale("ConfigMap", "c", "default", 2),
        lambda admin: admin.patch("ConfigMap", "c", {"status": {}}, namespace="default", subresource="status"),
    ],
    ids=["update", "patch", "delete", "scale", "status"],
)
def test_a_kind_or_subresource_that_is_not_served_is_not_found(cluster, write):
    cluster.admin.create(config())
    told = (404, "NotFound", "the server could not find the requested resource")
    assert refusal(lambda: write(cluster.admin)) == told


def test_each_write_counts_once(cluster):
    """Source: etcd counts the revisions that resourceVersions are; a write that changes nothing makes none."""
    before = cluster.view.revision
    cluster.admin.create(config())
    cluster.admin.patch("ConfigMap", "c", {"data": {"a": "2"}}, namespace="default")
    cluster.admin.patch("ConfigMap", "c", {"data": {"a": "2"}}, namespace="default")
    gone = cluster.admin.delete("ConfigMap", "c", namespace="default")
    last = cluster.admin.create(config())
    versions = [int(each["metadata"]["resourceVersion"]) for each in (gone, last)]
    assert versions == [before + 3, before + 4]


def test_a_custom_resource_is_replaced_by_one_who_knows_its_version(cluster):
    """Source: apiextensions-apiserver pkg/registry/customresource/strategy.go (AllowUnconditionalUpdate)."""
    stored = cluster.admin.create(nodepool())
    changed = {**stored, "spec": {**stored["spec"], "weight": 5}}
    unknown = {**changed, "metadata": {"name": "default"}}
    assert refusal(lambda: cluster.admin.update(unknown))[:2] == (422, "Invalid")
    assert cluster.admin.update(changed)["spec"]["weight"] == 5
    core = cluster.admin.create(config())
    assert cluster.admin.update({**core, "metadata": {"name": "c"}, "data": {}})["data"] == {}


def test_a_kind_that_these_crds_lack_is_not_found():
    overlay = {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "o"}, "spec": {}}
    old = MemoryCluster(
        Engine(Clock()), Rng(0), Ids(Rng(0)), Recorder(Clock()), crds=crd_set("1.6.5"), kubernetes="1.35.0"
    )
    assert refusal(lambda: old.writer(ADMIN).create(overlay)) == (
        404,
        "NotFound",
        'no matches for kind "NodeOverlay" in version "karpenter.sh/v1alpha1", which the CRDs of 1.6.5 lack',
    )
