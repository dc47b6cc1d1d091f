"""Files as users have them: folders, standard input, kinds that are not simulated, objects that others make anew."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.kube.api.builtin_kinds import NOT_KEPT
from harness.kube.api.kinds import KINDS
from harness.reading import sources
from tests.cli.command import as_json, call

POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""
COMMANDS = (("simulate",), ("explain",), ("upgrade-check", "--from", "1.13.1", "--to", "1.14.0"))


def pod(name: str = "web") -> str:
    return POD.replace("NAME", name)


def other(api_version: str, kind: str, name: str = "x") -> str:
    return f"\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\n"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_kinds_that_are_not_simulated_are_left_out_and_named(
    here: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    ingresses = [other("networking.k8s.io/v1", "Ingress", name) for name in "abcde"]
    found = [
        other("autoscaling/v2", "HorizontalPodAutoscaler", "w"),
        *ingresses,
        other("monitoring.coreos.com/v1", "PodMonitor"),
        other("hypershift.openshift.io/v1beta1", "NodePool", "theirs"),
        other("karpenter.k8s.aws/v1", "EC2NodeClass"),
        pod(),
    ]
    (here / "all.yaml").write_text("---".join(found))
    code, out, err = call(capsys, *command, "all.yaml")
    assert (code, err) == (0, "")
    (line,) = [line for line in out.splitlines() if line.startswith("not simulated")]
    assert line == (
        "not simulated: HorizontalPodAutoscaler w (replicas stay as written); Ingress a, b, c and 2 more; PodMonitor x; "
        "NodePool (hypershift.openshift.io/v1beta1) theirs; EC2NodeClass x"
    )
    value = as_json(capsys, *command, "all.yaml")
    assert len(value["not_simulated"]) == 9
    assert value["not_simulated"][0] == {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "namespace": None,
        "name": "w",
        "means": "replicas stay as written",
    }


_PARTS = (
    "ControllerRevision",
    "CustomResourceDefinition",
)  # a part of a workload, and one that is read for its release


def test_every_built_in_kind_is_taken(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = [(group, kind) for group, kinds in NOT_KEPT.items() for kind in kinds]
    assert not {kind for group, kind in kinds if kind in KINDS and KINDS[kind].group == group}
    kinds += [
        (row.group, row.kind)
        for row in KINDS.values()
        if not row.decides and row.kind not in _PARTS and row.version == "v1"
    ]
    (here / "all.yaml").write_text("---".join(other(f"{group}/v1" if group else "v1", kind) for group, kind in kinds))
    assert len(as_json(capsys, "simulate", "all.yaml")["not_simulated"]) == len(kinds)


@pytest.mark.parametrize(
    ("api_version", "kind", "text"),
    [
        (
            "karpenter.sh/v1",
            "Nodepool",
            "3:1: kind: there is no kind 'Nodepool' in karpenter.sh/v1; did you mean 'Node",
        ),
        ("karpenter.azure.com/v1beta1", "AksNodeClass", "3:1: kind: there is no kind 'AksNodeClass' in karpenter."),
        (
            "karpenter.sh/v1beta1",
            "NodePool",
            "2:1: apiVersion: NodePool is not served as karpenter.sh/v1beta1; it is as",
        ),
        (
            "karpenter.sk/v1",
            "NodePool",
            "2:1: apiVersion: unknown API group 'karpenter.sk'; did you mean 'karpenter.sh'",
        ),
        ("app/v1", "Deployment", "2:1: apiVersion: unknown API group 'app'; did you mean 'apps'?"),
        ("v1", "Deployment", "2:1: apiVersion: there is no Deployment in v1; it is in apps/v1"),
        ("apps/v1", "CronJob", "2:1: apiVersion: there is no CronJob in apps/v1; it is in batch"),
        ("extensions/v1beta1", "Deployment", "2:1: apiVersion: Deployment is not served as extensions/v1beta1; it is"),
        (
            "networking.k8s.io/v1",
            "Ingres",
            "3:1: kind: there is no kind 'Ingres' in networking.k8s.io/v1; did you mean 'I",
        ),
    ],
)
def test_misspelt_kinds_and_groups(
    here: Path, capsys: pytest.CaptureFixture[str], api_version: str, kind: str, text: str
) -> None:
    (here / "a.yaml").write_text(other(api_version, kind) + "---" + pod() + "---" + other("apps/v2", "Deploymnt"))
    code, out, err = call(capsys, "simulate", "a.yaml")
    first, second = err.splitlines()  # all mistakes at once
    assert (code, out) == (2, "")
    assert first.startswith(f"a.yaml:{text}")
    assert second.startswith("a.yaml:12:1: kind: there is no kind 'Deploymnt' in apps/v2; did you mean 'Deployment'")


def test_folders_and_standard_input(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "d" / "below").mkdir(parents=True)
    (here / "d" / "a.yaml").write_text(pod("a"))
    (here / "d" / "below" / "b.json").write_text(
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "spec": {"containers": [{"name": "c"}]}}'
    )
    (here / "d" / "README.md").write_text("# not a manifest")
    assert as_json(capsys, "simulate", "d")["pods"] == {"bound": 2, "pending": 0}
    stream = io.TextIOWrapper(io.BytesIO(pod("c").encode()))
    monkeypatch.setattr("sys.stdin", stream)
    assert as_json(capsys, "simulate", "d", "-")["pods"] == {"bound": 3, "pending": 0}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"apiVersion: v1\nkind: Pod\nmetadata: {name: \xff}")))
    assert call(capsys, "simulate", "-") == (2, "", "stdin:3:1: byte 0xff is not UTF-8\n")
    (here / "none").mkdir()
    assert call(capsys, "simulate", "none") == (
        2,
        "",
        "none:1:1: there is no file .yaml, .yml or .json in this directory\n",
    )


DEPLOYED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, uid: u-1}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-1
  namespace: default
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u-1, controller: true}]
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-1-a
  namespace: default
  labels: {app: web}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u-2, controller: true}]
spec: {nodeName: aks-1, containers: [{name: c, image: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: bare, namespace: default}
spec: {nodeName: aks-1, containers: [{name: c, image: c}]}
"""


def test_objects_of_a_running_cluster(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`kubectl get deployments,replicasets,pods -o yaml`: a Deployment of 2 replicas has 2 pods, not 2 and those of before."""
    (here / "got.yaml").write_text(DEPLOYED)
    _, out, _ = call(capsys, "simulate", "got.yaml")
    assert "left to their controllers: ReplicaSet web-1; Pod web-1-a\n" in out
    assert "bound to Nodes that no file has, so not scheduled here: Pod bare\n" in out
    value = as_json(capsys, "simulate", "got.yaml")
    assert [one["name"] for one in value["left_to_controllers"]] == ["web-1", "web-1-a"]
    assert [one["name"] for one in value["on_absent_nodes"]] == ["bare"]
    assert value["pods"] == {"bound": 3, "pending": 0}
    assert value["nodes"][0]["pods"] == 2


WORDS = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default, labels: {x: on}, annotations: {z: 5}}
spec:
  template:
    metadata: {labels: {team: no}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: karpenter.azure.com/sku-family, operator: In, values: [D, N, 4]}]
"""


def test_words_that_yaml_reads_as_something_else(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The API server refuses them, in words about types; only the file knows that the author wrote `N`."""
    (here / "a.yaml").write_text(
        WORDS + "---" + pod().replace("spec: {", "spec: {nodeSelector: {a: y, b: 1.50}, nodeName: [x], ")
    )
    code, _, err = call(capsys, "simulate", "a.yaml")
    assert code == 2
    assert err.splitlines() == [
        'a.yaml:4:36: metadata.labels.x: a text is expected, not true; quote it: "on"',
        'a.yaml:4:58: metadata.annotations.z: a text is expected, not 5; quote it: "5"',
        'a.yaml:15:23: spec.nodeSelector.a: a text is expected, not true; quote it: "y"',
        'a.yaml:15:29: spec.nodeSelector.b: a text is expected, not 1.5; quote it: "1.50"',
        "a.yaml:15:39: spec.nodeName: a text is expected, not a list",
    ]
    (here / "a.yaml").write_text(WORDS.replace(", labels: {x: on}, annotations: {z: 5}", ""))
    _, _, err = call(capsys, "simulate", "a.yaml")
    lines = [line for line in err.splitlines() if "must be of type string" in line]
    assert [(line.split(": ")[0], line.rpartition("; ")[2]) for line in lines] == [
        ("a.yaml:7:25", 'quote it: "no"'),
        ("a.yaml:10:86", 'quote it: "N"'),
        ("a.yaml:10:89", 'quote it: "4"'),
    ]


def test_templates_are_rendered_first(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text("apiVersion: v1\nkind: {{ .Values.kind }}\n")
    hint = "a template with {{ … }} is rendered first, for example by helm template"
    assert call(capsys, "simulate", "a.yaml") == (2, "", f"a.yaml:2:8: a key must be a text; {hint}\n")


def test_hints_in_scenarios(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There a kind that is not simulated is refused, as a scenario may expect; what is plainly a slip is told as one."""
    objects = (WORDS.replace(", labels: {x: on}, annotations: {z: 5}", ""), other("karpenter.sh/v1", "Nodepool"))
    (here / "a.yaml").write_text("---".join(["scenario: x\nthen: [{pods: {bound: 0}}]\n", *objects]))
    code, out, _ = call(capsys, "run", "a.yaml")
    assert code == 1
    found = [line.strip() for line in out.splitlines() if line.lstrip().startswith("found")]
    assert found[-1].endswith(
        "no matches for kind \"Nodepool\" in version \"karpenter.sh/v1\"; did you mean 'NodePool' or 'NodeOverlay'?"
    )
    assert sum('; quote it: "' in line for line in found) == 3


def test_what_does_not_run_takes_no_room(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: NAME}\n"
    body = "spec: {suspend: WAITS, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n"
    objects = [
        pod("done") + "status: {phase: Succeeded}\n",
        pod("evicted") + "status: {phase: Failed}\n",
        job.replace("NAME", "ended")
        + body.replace("WAITS", "false")
        + "status: {conditions: [{type: Complete, status: 'True'}]}\n",
        job.replace("NAME", "waits") + body.replace("WAITS", "true"),
    ]
    (here / "a.yaml").write_text("---\n".join(objects))
    value = as_json(capsys, "simulate", "a.yaml")
    assert value["pods"] == {"bound": 0, "pending": 0}
    assert [one["name"] for one in value["not_running"]] == ["done", "evicted", "ended"]
    assert "not running, so not simulated: Pod done, evicted; Job ended" in call(capsys, "simulate", "a.yaml")[1]


def test_pods_of_a_deployment_whose_replicaset_is_not_given(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = "{metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}"
    spec = f"spec: {{replicas: 2, selector: {{matchLabels: {{app: web}}}}, template: {template}}}\n"
    owner = "{apiVersion: apps/v1, kind: ReplicaSet, name: web-6c, uid: x, controller: true}"
    metadata = (
        f"metadata: {{name: web-6c-1, labels: {{app: web, pod-template-hash: 6c}}, ownerReferences: [{owner}]}}\n"
    )
    made = f"apiVersion: v1\nkind: Pod\n{metadata}spec: {{containers: [{{name: c, image: i}}]}}\n"
    (here / "a.yaml").write_text(f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\n{spec}---\n{made}")
    value = as_json(capsys, "simulate", "a.yaml")
    assert value["pods"] == {"bound": 2, "pending": 0}
    assert [one["name"] for one in value["left_to_controllers"]] == ["web-6c-1"]


def test_what_every_cluster_has_comes_with_a_dump(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`kubectl get namespaces -o yaml`: their uids are another cluster's."""
    namespaces = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "uid": f"1111-{name}", "resourceVersion": "3"},
        }
        for name in ("default", "kube-system", "shop")
    ]
    (here / "ns.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": namespaces}))
    assert call(capsys, "simulate", "ns.json")[::2] == (0, "")


@pytest.mark.parametrize("form", [json.dumps, yaml.safe_dump])
def test_a_typed_list_as_the_api_server_writes_it(
    here: Path, capsys: pytest.CaptureFixture[str], form: Callable[[Any], str]
) -> None:
    """`kubectl get --raw /api/v1/pods`: its items do not say what they are."""
    pods = [
        {"metadata": {"name": f"p{number}"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        for number in range(2)
    ]
    (here / "pods.x.json").write_text(form({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": pods}))
    value = as_json(capsys, "simulate", "pods.x.json")
    assert value["pods"] == {"bound": 2, "pending": 0}


def test_who_refuses_a_pod(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "p.yaml").write_text(pod("Web"))
    assert call(capsys, "explain", "p.yaml")[2].startswith("p.yaml:4:12: api-server: Pod/Web: ")


LAUNCHED = """
apiVersion: v1
kind: Node
metadata: {name: aks-default-x, labels: {node.kubernetes.io/instance-type: Standard_D4s_v5, karpenter.sh/nodepool: default}}
spec: {providerID: "azure:///x"}
status:
  allocatable: {cpu: "3", memory: 12Gi, pods: "110"}
  capacity: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: default-x, labels: {karpenter.sh/nodepool: default}}
spec:
  nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
  requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
status: {nodeName: aks-default-x, providerID: "azure:///x"}
"""


def test_a_nodeclaim_whose_node_is_given_is_not_launched_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dump.yaml").write_text(LAUNCHED)
    code, out, err = call(capsys, "simulate", "dump.yaml")
    assert code == 0
    assert "their Nodes are given, too: NodeClaim default-x" in out + err
    assert "1 node" in out
    assert "0.0000 new" in out


def test_a_nodeclaim_without_its_node_is_launched(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dump.yaml").write_text(LAUNCHED.partition("---")[2])
    code, out, err = call(capsys, "simulate", "dump.yaml")
    assert code == 0
    assert "their Nodes are there" not in out + err
    assert "1 node" in out


def test_launch_names_what_is_no_program(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "launch", "/nonexistent")
    assert (code, err) == (2, "harness launch: /nonexistent is no program that can be executed\n")


@pytest.mark.parametrize("command", [*COMMANDS, ("run",), ("validate",)], ids=lambda command: command[0])
def test_a_folder_that_holds_too_much_is_one_mistake(
    here: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`harness explain /` looked at a whole disk."""
    monkeypatch.setattr(sources, "MAX_ENTRIES", 20)
    for number in range(21):
        (here / "disk" / f"{number}").mkdir(parents=True)
    (here / "disk" / "web.yaml").write_text(pod())
    assert call(capsys, *command, "disk") == (
        2,
        "",
        "disk:1:1: holds more than 20 files and folders; name the folders that hold the files\n",
    )


def test_hidden_folders_of_a_folder_are_not_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "all" / ".git").mkdir(parents=True)
    (here / "all" / ".git" / "broken.yaml").write_text("{")
    (here / "all" / "web.yaml").write_text(pod())
    assert [one["pod"] for one in as_json(capsys, "explain", "all")["pods"]] == ["default/web"]


def test_a_folder_that_may_not_be_read(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "all" / "secret").mkdir(parents=True)
    (here / "all" / "web.yaml").write_text(pod())
    scandir = os.scandir

    def forbidden(path: str) -> Any:  # root may read everything
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", forbidden)
    assert call(capsys, "explain", "all") == (2, "", "all/secret:1:1: cannot be read: permission denied\n")
