"""`given.manifests` and `given.patches`: a scenario about files that are somebody's own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.kube.api.kinds import KINDS
from harness.reading.problems import ScenarioError
from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.world import World

POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec:
  limits: {cpu: "10"}
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
"""
CLASS = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: {}\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: web, image: web, resources: {requests: {cpu: "1"}}}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in {
        "pools/web.yaml": POOL,
        "pools/class.yaml": CLASS,
        "pools/README.md": "# not a manifest",
        "pools/own.yaml": "scenario: another one, which is no manifest\nthen: [{pods: {bound: 0}}]\n",
        "chart.yaml": POD,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / ".git").mkdir()
    return tmp_path


def scenario(repository: Path, given: str, then: str = "[{pods: {bound: 1}}]", below: str = "") -> Path:
    path = repository / "tests" / "web.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"scenario: own files\ngiven:\n{given}then: {then}\n{below}")
    return path


def outcome(path: Path) -> tuple[Outcome, list[str]]:
    (found,) = load(path, "tests/web.yaml")
    report = Runner().run(found.cases[0])
    assert not report.error
    return report.outcome, [str(one) for verdict in report.verdicts if not verdict.holds for one in verdict.differences]


def mistakes(path: Path) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        Runner().check_inputs(case for found in load(path, "tests/web.yaml") for case in found.cases)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "names",
    [
        "[../pools/*.yaml, ../chart.yaml]",
        "[../pools, ../chart.yaml]",  # a folder: its manifests, and no scenarios
        "[../pools/*, ../chart.yaml]",  # a pattern finds manifests only
        "['../**/*.yaml']",
        "[../pools/web.yaml, ../pools/class.yaml, ../chart.yaml, ../pools/w*.yaml]",  # a file named twice is read once
    ],
)
def test_names_patterns_and_folders(repository: Path, names: str) -> None:
    assert outcome(scenario(repository, f"  manifests: {names}\n")) == (Outcome.PASSED, [])


def test_an_object_of_the_scenario_takes_the_place_of_the_files(repository: Path) -> None:
    small = POD.replace('cpu: "1"', "cpu: 300000")
    path = scenario(
        repository, "  manifests: [../pools/*.yaml, ../chart.yaml]\n", "[{pods: {pending: 1}}]", f"---\n{small}"
    )
    assert outcome(path)[0] is Outcome.PASSED


def test_patches_are_laid_over_files_and_cases_have_their_own(repository: Path) -> None:
    given = '  manifests: [../pools/*.yaml, ../chart.yaml]\n  patches: [{of: NodePool/*, to: {spec: {limits: {cpu: "0"}}}}]\n'
    cases = (
        "cases:\n- {case: full}\n- case: open\n  given: {patches: [{of: NodePool/web, to: {spec: {limits: null}}}]}\n"
    )
    path = scenario(
        repository, given, "[{pods: {pending: 1}, only: {case: [full]}}]".replace(", only: {case: [full]}}", "}")
    )
    path.write_text(path.read_text().replace("given:", f"{cases}given:", 1))
    (found,) = load(path)
    full, open_ = (Runner().run(case) for case in found.cases)
    assert (full.outcome, open_.outcome) == (Outcome.PASSED, Outcome.FAILED)


def test_a_dump_is_taken_as_it_is(repository: Path) -> None:
    """Lists, server fields, kinds that nothing here reads, pods that their controller makes anew."""
    server = "resourceVersion: '7', uid: 3f, creationTimestamp: '2026-01-01T00:00:00Z'"
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d, uid: 4f, controller: true}]"
    items = "".join(
        f"- apiVersion: {version}\n  kind: {kind}\n  metadata: {{{metadata}, {server}}}\n  {rest}\n"
        for version, kind, metadata, rest in [
            (
                "v1",
                "Pod",
                f"name: web-5d-x, namespace: default, labels: {{pod-template-hash: 5d, app: web}}, {owner}",
                "spec: {nodeName: gone}",
            ),
            (
                "apps/v1",
                "Deployment",
                "name: web, namespace: default",
                "spec: {replicas: 2, selector: {matchLabels: {app: web}}, "
                "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}",
            ),
            ("monitoring.coreos.com/v1", "ServiceMonitor", "name: web", "spec: {}"),
            ("v1", "Secret", "name: web", "data: {}"),
        ]
    )
    (repository / "dump.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:\n{items}")
    path = scenario(repository, "  manifests: [../pools/*.yaml, ../dump.yaml]\n", "[{pods: {bound: [Deployment/web]}}]")
    assert outcome(path) == (Outcome.PASSED, [])


@pytest.mark.parametrize("server", [{"uid": "3f"}, {"uid": "3f", "resourceVersion": "7"}])
def test_a_dump_may_have_what_every_cluster_begins_with(repository: Path, server: dict[str, str]) -> None:
    """A world has Namespaces and AKS's StorageClasses of its own, with other uids than the cluster of the dump."""
    world = World()
    beginnings = [obj for kind in KINDS for obj in world.list(kind)]
    assert {obj["kind"] for obj in beginnings} >= {"Namespace", "StorageClass"}
    items = [
        {**obj, "metadata": {"name": obj["metadata"]["name"], "labels": {"of": "the-dump"}, **server}}
        for obj in beginnings
    ]
    (repository / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    path = scenario(repository, "  manifests: [../dump.json]\n", "[{pods: {pending: 0}}]")
    assert outcome(path) == (Outcome.PASSED, [])


def test_a_storage_class_of_the_dump_replaces_the_one_that_is_assumed(repository: Path) -> None:
    """AKS changes what its classes say from release to release, and an API server takes no change of one."""
    own = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "managed-csi", "uid": "a", "resourceVersion": "7"},
        "provisioner": "disk.csi.azure.com",
        "parameters": {"skuName": "PremiumV2_LRS"},
        "reclaimPolicy": "Retain",
        "volumeBindingMode": "Immediate",
    }
    (repository / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [own]}))
    fields = "{provisioner: disk.csi.azure.com, parameters: {skuName: PremiumV2_LRS}, reclaimPolicy: Retain}"
    look = f"[{{objects: {{of: StorageClass/managed-csi, match: {fields}, count: 1}}}}]"
    path = scenario(repository, "  manifests: [../dump.json]\n", look)
    assert outcome(path) == (Outcome.PASSED, [])


def test_a_storage_class_that_was_applied_stays() -> None:
    world = World()
    own = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "managed-csi"}}
    own["provisioner"] = "disk.csi.azure.com"
    assert world.apply({**own, "parameters": {"skuName": "Premium_LRS"}}) == []
    (refused,) = world.apply({**own, "parameters": {"skuName": "Standard_LRS"}})
    assert refused.text.startswith("parameters: ")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            "  manifests: [../pool/*.yaml]\n",
            "tests/web.yaml:3:15: given.manifests[0]: no file matches '../pool/*.yaml'",
        ),
        (
            "  manifests: [../chart.yml]\n",
            "tests/web.yaml:3:15: given.manifests[0]: there is no file '../chart.yml'; did you mean '../chart.yaml'",
        ),
        ("  manifests: [../empty]\n", "tests/web.yaml:3:15: given.manifests[0]: there is no file '../empty'"),
        ("  manifests: [../broken.yaml]\n", "broken.yaml:2:5: not YAML: "),
        ("  manifests: [../binary.yaml]\n", "binary.yaml:1:1: is binary, not YAML"),
        (
            "  manifests: [../chart.yaml, ../twice.yaml]\n",
            "twice.yaml:3:12: metadata.name: Pod/web is also in chart.yaml:3:12",
        ),
        ("  manifests: [../typo.yaml]\n", "typo.yaml:5:3: spec.limit: unknown field 'limit'; did you mean 'limits'?"),
        (
            "  manifests: [../wrong.yaml]\n",
            "wrong.yaml:6:52: spec.containers[0].resources.requests.cpu: 'one' is not a quantity",
        ),
        (
            "  manifests: [../group.yaml]\n",
            "group.yaml:1:1: apiVersion: unknown API group 'karpenter.sk'; did you mean 'karpenter.sh'?",
        ),
        (
            "  manifests: [../chart.yaml]\n  patches: [{of: Pod/wep, to: {spec: {}}}]\n",
            "tests/web.yaml:4:14: given.patches[0].of: 'Pod/wep' is not an object of this scenario; did you mean 'Pod/web'",
        ),
        (
            "  manifests: [../chart.yaml]\n  patches: [{of: Pod/web, to: {metadata: {name: api}}}]\n",
            "tests/web.yaml:4:27: given.patches[0].to: a patch cannot give an object another kind, namespace or name",
        ),
    ],
)
def test_mistakes_stand_where_they_are(repository: Path, given: str, expected: str) -> None:
    (repository / "empty").mkdir()
    for name, text in {
        "broken.yaml": "a: b\nc: d: e\n",
        "binary.yaml": "\0",
        "twice.yaml": POD,
        "typo.yaml": POOL.replace("limits:", "limit:"),
        "wrong.yaml": POD.replace('"1"', "one"),
        "group.yaml": POOL.replace("karpenter.sh/v1", "karpenter.sk/v1"),
    }.items():
        (repository / name).write_text(text)
    found = mistakes(scenario(repository, given))
    assert any(line.startswith(expected) for line in found), found


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(repository: Path) -> None:
    (repository / "chart.yaml").chmod(0)
    assert mistakes(scenario(repository, "  manifests: [../chart.yaml]\n")) == [
        "chart.yaml:1:1: cannot be read: permission denied"
    ]


def test_a_refusal_points_into_the_file_and_of_a_patched_field_into_the_patch(repository: Path) -> None:
    given = "  manifests: [../pools/*.yaml, ../chart.yaml]\n"
    (repository / "pools" / "web.yaml").write_text(POOL.replace("limits:", "weight: 101\n  limits:"))
    (found,) = load(scenario(repository, given), "tests/web.yaml")
    refused = next(one for one in Runner().run(found.cases[0]).verdicts if "rejection" in one.label)
    assert str(refused.mark) == "pools/web.yaml:5:3"
    given += "  patches:\n  - {of: NodePool/web, to: {spec: {weight: 102}}}\n"
    (found,) = load(scenario(repository, given), "tests/web.yaml")
    refused = next(one for one in Runner().run(found.cases[0]).verdicts if "rejection" in one.label)
    assert str(refused.mark) == "tests/web.yaml:5:36"
