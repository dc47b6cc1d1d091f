"""kind's parts that need no Docker: configuration, sentences out of journals, patience with a daemon, who owns what."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from harness.clusters.cluster import Boot
from harness.clusters.kind.journals import exhaustion, refusal
from harness.clusters.kind.kubeadm import KubeletFlags, flags_file, init_config, join_config
from harness.clusters.kind.reaper import thaw
from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.owner import NOBODY, lives, this_process
from harness.clusters.remote.outstanding import outstanding_work
from harness.clusters.usage import Usage
from harness.clusters.waiting import TimedOut
from harness.engine.ports import Identity
from harness.explain.labels.probes import default_objects, plain_pod
from harness.nodes.boot import BootPlan
from harness.nodes.kubelet import OtherHardware
from harness.world import World
from tests.clusters.subject import Subject

FLAGS = (
    'KUBELET_KUBEADM_ARGS="--cloud-provider=external --max-pods=30 --node-ip=172.18.0.3 --node-labels=a=b,c=d '
    '--register-with-taints=karpenter.sh/unregistered=:NoExecute"\n'
)


def flags(**changes: Any) -> str:
    return flags_file(FLAGS, KubeletFlags(**changes))


def test_a_kubelet_that_starts_anew_gets_the_flags_of_its_new_plan_and_keeps_its_own() -> None:
    assert flags() == 'KUBELET_KUBEADM_ARGS="--node-ip=172.18.0.3"\n'
    taints = [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "e", "effect": "NoExecute"}]
    text = flags(labels={"x": "y"}, taints=taints, provider_id="azure:///z", max_pods=250, external_cloud_provider=True)
    words = set(re.findall(r"--\S+", text.strip().strip('"')))
    assert words == {
        "--node-ip=172.18.0.3",
        "--node-labels=x=y",
        "--register-with-taints=k=v:NoSchedule,e=:NoExecute",
        "--provider-id=azure:///z",
        "--max-pods=250",
        "--cloud-provider=external",
    }


def test_a_file_without_flags_is_not_written_over() -> None:
    with pytest.raises(ValueError, match="has no KUBELET_KUBEADM_ARGS"):
        flags_file("", KubeletFlags())


@pytest.mark.parametrize("version", ["v1.31.2", "v1.36.3"])
def test_what_a_busy_machine_would_fail_on_is_off(version: str) -> None:
    init = init_config(version, address="10.0.0.2", endpoint="k:6443", sans=["k"])
    join = join_config(version, name="n", address="10.0.0.3", endpoint="k:6443", kubelet=KubeletFlags())
    assert init.count("leader-elect") == 2
    assert "unsafe-no-fsync" in init
    assert "1h0m0s" in init
    assert "1h0m0s" in join


KLOG = """E1122 01:00:00.000000 1 run.go:72] "command failed" err=<
\tfailed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [a.k8s.io/b]
\t--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (kubelet.kubernetes.io)
 >
kubelet.service: Main process exited, code=exited, status=1/FAILURE
"""
SENTENCE = (
    "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [a.k8s.io/b]\n"
    "--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (kubelet.kubernetes.io)"
)


def test_the_kubelets_sentence_is_taken_whole_or_not_yet() -> None:
    assert refusal(KLOG) == SENTENCE
    assert refusal("all is well") is None
    first_half = KLOG[: KLOG.index("\n\t--node-labels in") + 1]
    assert refusal(first_half) is None


STARVED = """E1122 05:46:11.711592 10478 manager.go:326] Registration of the raw container factory failed: inotify_init: too many open files
E1122 05:46:11.711718   10478 kubelet.go:1804] "Failed to start cAdvisor" err="inotify_init: too many open files"
kubelet.service: Main process exited, code=exited, status=1/FAILURE
"""


def test_a_host_without_inotify_instances_is_named() -> None:
    assert exhaustion(KLOG) == ""
    assert "sysctl fs.inotify.max_user_instances=1024" in exhaustion(STARVED)
    systemd = "FAILED] Failed to start systemd-as…quests to Console Directory Watch.\n[  OK  ] Finished modprobe"
    assert exhaustion(systemd) == exhaustion(STARVED)
    assert exhaustion("[  OK  ] Started systemd-as…quests to Console Directory Watch.") == ""


def test_a_kubelet_that_starts_in_vain_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("testcontainers")
    from harness.clusters.kind import joining

    class Starved:
        node_name = "w"

        def state(self) -> str:
            return ""

        def kubelet_said(self, cursor: str) -> str:
            return STARVED

        def journal(self, unit: str = "kubelet", lines: int = 20) -> str:
            return f"journal of {unit} on w:\n{STARVED}"

    monkeypatch.setattr(joining, "_LACKING", 0.0)
    node: Any = Starved()
    control_plane: Any = SimpleNamespace(seconds=60.0)
    with pytest.raises(joining.NodeError) as caught:
        joining.await_kubelet(node, control_plane, lambda: False)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("the kubelet of w does not come up: the host has no inotify instances left")
    assert rest[0] == "journal of kubelet on w:"


class Refusing:
    """A request that Docker refuses some times with a status before it answers."""

    def __init__(self, *answers: tuple[int, str]) -> None:
        self.answers = list(answers)

    def __call__(self) -> str:
        from docker.errors import APIError

        if not self.answers:
            return "done"
        status, text = self.answers.pop(0)
        response: Any = SimpleNamespace(status_code=status, reason="x", url="u")
        raise APIError(text, response=response, explanation=text)


def patiently(request: Callable[[], str], seconds: float) -> str:
    from harness.clusters.kind.daemon import patiently as real

    return real(request, seconds=seconds, pause=0.0)


def test_a_daemon_that_says_500_is_asked_again() -> None:
    pytest.importorskip("docker")
    request = Refusing((500, "OCI runtime exec failed: context deadline exceeded"), (502, "bad gateway"))
    assert patiently(request, 60.0) == "done"


@pytest.mark.parametrize(
    ("status", "text"),
    [(404, "No such container: x"), (500, "could not find an available address pool"), (409, "paused")],
)
def test_what_another_attempt_does_not_change_is_told_at_once(status: int, text: str) -> None:
    docker_errors = pytest.importorskip("docker.errors")
    request = Refusing((status, text), (status, text))
    with pytest.raises(docker_errors.APIError, match=re.escape(text)):
        patiently(request, 60.0)
    assert len(request.answers) == 1


def test_a_daemon_that_goes_on_saying_500_is_believed() -> None:
    docker_errors = pytest.importorskip("docker.errors")
    request = Refusing(*[(500, "driver failed")] * 10_000)
    with pytest.raises((docker_errors.APIError, TimedOut), match="driver failed"):
        patiently(request, 0.0)


def test_an_owner_is_a_process_and_not_its_number() -> None:
    mine = this_process()
    assert lives(mine)
    assert lives(str(os.getpid()))
    assert lives(NOBODY)
    assert not lives(f"{os.getpid()}@1")
    assert not lives("nobody")
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    number = str(child.pid)
    child.wait()
    assert not lives(number)


def test_what_a_kubelet_owes(cluster: Subject) -> None:
    """The Node's own kubelet has to make it Ready and to take its pods; where nobody runs nobody owes anything."""
    name = cluster.create(cluster.node("n", ready=False))["metadata"]["name"]
    cluster.admin.create(cluster.pod("p", nodeName=name))
    cluster.step()
    mine = [each for each in outstanding_work(cluster.view, (1, 36), machines={name}) if name in each]
    assert f"Node/{name}: not Ready" in mine
    assert f"Pod/{cluster.namespace}/p: not taken by the kubelet of {name}" in mine
    assert not [each for each in outstanding_work(cluster.view, (1, 36)) if "kubelet" in each or "not Ready" in each]


@pytest.mark.parametrize(("selected", "owed"), [(("web",), ["a"]), (("web", "web"), []), (("web", "db"), ["a"])])
def test_budgets_that_share_a_pod_are_not_waited_for(selected: tuple[str, ...], owed: list[str]) -> None:
    """Kubernetes pkg/controller/disruption/disruption.go, getPdbForPod: the controller tells only one of them of the pod."""
    budgets = [
        {
            "metadata": {"name": name, "namespace": "default", "generation": 1},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": app}}},
        }
        for name, app in zip("ab", selected, strict=False)
    ]
    of_web = {"metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}}, "spec": {}, "status": {}}
    of_db = {"metadata": {"name": "q", "namespace": "default", "labels": {"app": "db"}}, "spec": {}, "status": {}}
    objects = {"PodDisruptionBudget": budgets, "Pod": [of_web, of_db]}
    view: Any = SimpleNamespace(
        list=lambda kind, **_: objects.get(kind, []), get=lambda *_: None, indexed=lambda *_: []
    )
    told = [line for line in outstanding_work(view, (1, 36)) if line.startswith("PodDisruptionBudget")]
    assert [line for line in told if "/a:" in line] == [f"PodDisruptionBudget/{name}: not counted" for name in owed]


def test_usage_adds_what_borrowers_did_on_clusters_of_its_name() -> None:
    usage = Usage("kind", 12.34, {"a": 400, "b": 100}, joins=1, registrations=2)
    others = [
        {"name": "kind", "joins": 2, "registrations": 5, "too_big": 0},
        {"name": "apiserver", "joins": 9, "registrations": 9, "too_big": 0},
    ]
    usage.add_borrowed(others)
    line = "kind: started in 12.3 s, 500 MiB (a 400, b 100); nodes joined: 3, registrations of real kubelets: 7"
    assert str(usage) == line


class Machines(MemoryCluster):
    """A cluster that brings up machines itself, as long as they are of its own kind; here `booted` keeps their names."""

    booted: ClassVar[list[str]] = []

    @property
    def boot(self) -> Boot | None:
        return self._boot

    def _boot(self, plan: BootPlan) -> None:
        if plan.arch != "amd64":
            raise OtherHardware(plan.arch)
        self.booted.append(plan.node_name)
        self.writer(Identity.node(plan.node_name)).create(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {
                    "name": plan.node_name,
                    "labels": {"kubernetes.io/hostname": plan.node_name, **plan.labels},
                },
            }
        )


@pytest.mark.parametrize(("arch", "node"), [("arm64", True), ("amd64", False)])
def test_a_machine_of_other_hardware_has_a_simulated_kubelet(
    arch: str, node: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machines, "booted", [])
    world = World(cluster=Machines)
    nodeclass, nodepool = default_objects()
    world.apply(nodeclass, nodepool, plain_pod({"kubernetes.io/arch": arch}))
    world.advance(120)
    assert bool(Machines.booted) is not node
    (made,) = world.list("Node")
    assert bool((made.get("status") or {}).get("nodeInfo")) is node
    first = world.writes(made["metadata"]["name"])["kubernetes.io/hostname"][0]
    assert (first.by, first.from_) == ("kubelet", "kubelet-default")


def test_what_a_killed_node_had_frozen_is_let_go(tmp_path: Path) -> None:
    """A frozen process outlives every signal, so that Docker cannot remove its container."""
    pod = tmp_path / "abc" / "kubelet.slice" / "pod"
    pod.mkdir(parents=True)
    (pod / "freezer.state").write_text("FROZEN")
    thaw("abc", tmp_path)
    assert (pod / "freezer.state").read_text() == "THAWED"
    thaw("gone", tmp_path)


@pytest.mark.parametrize(
    ("ready", "taint", "owed"),
    [
        ("True", "", False),
        ("True", "not-ready", True),
        ("False", "not-ready", False),
        ("False", "unreachable", True),
        ("Unknown", "unreachable", False),  # a machine that nobody has heard of for a while
        ("Unknown", "not-ready", True),
        ("Unknown", "", True),
    ],
)
def test_the_taint_that_a_ready_condition_brings(ready: str, taint: str, owed: bool) -> None:
    node = {
        "metadata": {"name": "n", "uid": "u"},
        "spec": {"taints": [{"key": f"node.kubernetes.io/{taint}", "effect": "NoSchedule"}] if taint else []},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }
    view: Any = SimpleNamespace(list=lambda kind, **_: [node] if kind == "Node" else [], indexed=lambda *_: [])
    assert bool([each for each in outstanding_work(view, (1, 36)) if "its taints" in each]) is owed


@pytest.mark.parametrize(
    ("others", "effects", "owed"),
    [
        ((), (), False),  # no Node is Ready: kube-controller-manager thinks that it is cut off
        ((), ("NoExecute",), True),
        ((("eastus-2", "True"),), (), True),
        ((("eastus-2", "True"),), ("NoExecute",), False),
        ((("eastus-1", "True"), *[("eastus-1", "Unknown")] * 2), (), False),  # most of the zone: what is stays
        ((("eastus-1", "True"), *[("eastus-1", "Unknown")] * 2), ("NoExecute",), False),
        ((("eastus-1", "True"), ("eastus-1", "Unknown")), (), True),
        ((*[("eastus-1", "True")] * 3, *[("eastus-1", "Unknown")] * 2), (), True),
        ((("eastus-2", "True"), *[("eastus-1", "Unknown")] * 3), (), True),  # all of a zone
    ],
)
def test_pods_are_driven_out_of_silent_nodes(others: Any, effects: tuple[str, ...], owed: bool) -> None:
    def node(name: str, zone: str, ready: str, *effects: str) -> dict[str, Any]:
        taints = [{"key": "node.kubernetes.io/unreachable", "effect": effect} for effect in effects]
        labels = {"topology.kubernetes.io/zone": zone}
        status = {"conditions": [{"type": "Ready", "status": ready}]}
        return {"metadata": {"name": name, "uid": name, "labels": labels}, "spec": {"taints": taints}, "status": status}

    beside = [node(f"other{number}", *other) for number, other in enumerate(others)]
    nodes = [node("n", "eastus-1", "Unknown", "NoSchedule", *effects), *beside]
    view: Any = SimpleNamespace(list=lambda kind, **_: nodes if kind == "Node" else [], indexed=lambda *_: [])
    found = [each for each in outstanding_work(view, (1, 36)) if "driven out" in each and "Node/n:" in each]
    assert bool(found) is owed


def test_a_pod_of_a_node_that_is_gone_is_collected() -> None:
    pod = {"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"nodeName": "gone"}}
    view: Any = SimpleNamespace(list=lambda kind, **_: [pod] if kind == "Pod" else [], indexed=lambda *_: [])
    assert "Pod/d/p: its Node is gone" in list(outstanding_work(view, (1, 36)))


class SlowDocker:
    """A container whose address is told at the third look, if it runs until then."""

    def __init__(self, status: str = "running") -> None:
        self.status, self.looks = status, 0

    def reload(self) -> None:
        self.looks += 1

    @property
    def attrs(self) -> dict[str, Any]:
        return {"NetworkSettings": {"Networks": {"kind": {"IPAddress": "172.18.0.3" if self.looks > 2 else ""}}}}


DOCKER = {
    "docker": ("DockerClient", "from_env"),
    "docker.errors": ("APIError", "ContainerError", "ImageNotFound", "NotFound"),
    "docker.types": ("Mount",),
    "requests": (),
    "requests.exceptions": ("RequestException",),
    "testcontainers": (),
    "testcontainers.core": (),
    "testcontainers.core.container": ("DockerContainer",),
    "testcontainers.core.exceptions": ("ContainerStartException",),
}
"""What kind's nodes import of Docker's client."""
NODE = "harness.clusters.kind.node"


@cache
def kind_node() -> Any:
    """Returns the module of kind's nodes; where Docker's client is not installed, over exceptions and a base of the same names."""
    with suppress(ImportError):
        return import_module(NODE)
    before = set(sys.modules)
    try:
        for name, attributes in DOCKER.items():
            base = Exception if name.endswith(("errors", "exceptions")) else object
            vars(sys.modules.setdefault(name, ModuleType(name))).update(
                {attribute: type(attribute, (base,), {}) for attribute in attributes}
            )
        return import_module(NODE)
    finally:
        for name in set(sys.modules) - before:  # others find no Docker, as before
            del sys.modules[name]


def node_of(container: SlowDocker) -> Any:
    node = object.__new__(kind_node().KindNode)  # no Docker is asked
    vars(node).update(_address="", node_name="n", seconds=5.0, get_wrapped_container=lambda: container)
    vars(node)["_console_text"] = lambda: "last words"
    return node


def test_a_node_has_its_address_when_docker_tells_it() -> None:
    assert node_of(SlowDocker()).address == "172.18.0.3"


def test_a_file_that_is_still_empty_is_read_again() -> None:
    """Docker now and then ends a command before what it printed has come."""
    node, answers = node_of(SlowDocker()), iter(["", "", "hello"])
    vars(node)["sh"] = lambda *argv: next(answers)
    assert node.read("/kind/word") == "hello"


def test_a_file_that_stays_empty_is_told_with_its_node() -> None:
    node = node_of(SlowDocker())
    vars(node).update(seconds=0.0, sh=lambda *argv: "")
    with pytest.raises(TimedOut, match="for /kind/word of n to have content"):
        node.read("/kind/word")


def test_a_node_that_is_gone_before_it_has_an_address_says_so() -> None:
    node = node_of(SlowDocker("exited"))
    with pytest.raises(kind_node().NodeError, match=r"node n is exited\n.*\n.*last words"):
        _ = node.address


@pytest.mark.parametrize(
    ("reference", "annotations", "owed"),
    [
        ({"name": "data", "namespace": "default"}, {}, True),
        ({"name": "data", "namespace": "default"}, {"pv.kubernetes.io/bind-completed": "yes"}, False),
        ({"name": "other", "namespace": "default"}, {}, False),  # it waits for ever
    ],
)
def test_a_claim_that_is_not_bound_yet(reference: dict[str, str], annotations: dict[str, str], owed: bool) -> None:
    meta = {"name": "data", "namespace": "default", "uid": "c", "annotations": annotations}
    claim = {"metadata": meta, "spec": {"volumeName": "pv"}}
    volume = {"metadata": {"name": "pv", "uid": "v"}, "spec": {"claimRef": reference}}
    view: Any = SimpleNamespace(
        list=lambda kind, **_: [claim] if kind == "PersistentVolumeClaim" else [],
        get=lambda kind, name, *_: volume,
        indexed=lambda *_: [],
    )
    said = list(outstanding_work(view, (1, 36)))
    assert said == (["PersistentVolumeClaim/data: not bound to its volume"] if owed else [])
