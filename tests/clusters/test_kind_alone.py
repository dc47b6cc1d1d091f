"""KindContainer for others: what docs/how-to/clusters.md says of it, done with it alone."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.kind.kubeadm import KubeletFlags
from harness.clusters.waiting import poll, unique
from tests.clusters.conftest import absent

if TYPE_CHECKING:
    from harness.clusters.kind.container import KindContainer

pytestmark = pytest.mark.real_cluster

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "clusters.md"
ALONE = {**os.environ, "PYTHONPATH": str(ROOT), "TESTCONTAINERS_RYUK_DISABLED": "true"}
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeName: %s
  containers: [{name: c, image: "registry.k8s.io/pause:3.10"}]
"""


@pytest.fixture(scope="module")
def asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip("real clusters are asked for with --run-clusters")
    from harness.clusters.kind.cluster import docker_available

    try:
        docker_available()
    except MissingTool as error:
        absent(str(error), request.config.getoption("--require-cluster"))


def left() -> set[str]:
    from harness.clusters.kind.container import LABEL, OWNER
    from harness.clusters.kind.reaper import labelled

    return set(labelled(LABEL, OWNER))


def test_the_snippet_of_the_page_runs_and_leaves_nothing(asked: None, tmp_path: Path) -> None:
    (snippet,) = re.findall(r"^```python kind_alone\.py\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    before = left()
    done = subprocess.run(
        [sys.executable, "-c", snippet], cwd=tmp_path, env=ALONE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert names[0] == "NAME"
    assert "worker-1" in names
    assert len(names) == 3
    assert left() <= before
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def reused(asked: None) -> Iterator[KindContainer]:
    from testcontainers.core.config import testcontainers_config

    from harness.clusters.kind.container import KindContainer

    testcontainers_config.ryuk_disabled = True
    name = f"alone-{unique()}"
    with KindContainer(name=name, reuse=True) as cluster:
        yield cluster
    assert name in left()
    again = KindContainer(name=name, reuse=True)
    assert again.attach()
    again.remove()
    assert name not in left()
    assert not KindContainer(name=name, reuse=True).attach()


def of(cluster: KindContainer, *arguments: str) -> Any:
    return json.loads(cluster.kubectl("get", *arguments, "-o", "json"))


def test_both_kubeconfigs_lead_there(reused: KindContainer) -> None:
    kubernetes = pytest.importorskip("kubernetes", reason="the kubernetes package is not installed")
    configuration = kubernetes.client.Configuration()
    kubernetes.config.load_kube_config_from_dict(reused.kubeconfig(), client_configuration=configuration)
    with kubernetes.client.ApiClient(configuration) as api:
        names = [each.metadata.name for each in kubernetes.client.CoreV1Api(api).list_node().items]
    assert names == [reused.node_name]
    client = reused.get_docker_client().client
    inside = json.dumps(reused.kubeconfig(inside=True))
    script = f"cat > /tmp/config <<'END'\n{inside}\nEND\nkubectl --kubeconfig=/tmp/config get nodes -o name"
    printed = client.containers.run(
        reused.image,
        ["-c", script],
        entrypoint=["sh"],
        network=reused.node_name,
        labels=reused.docker_labels,
        remove=True,
    )
    assert printed.decode().strip() == f"node/{reused.node_name}"


def test_pods_run_on_the_control_plane_and_there_is_no_dns_unless_told_otherwise(reused: KindContainer) -> None:
    # kube-controller-manager takes the not-ready taints a moment after a node is Ready
    poll(lambda: "taints" not in of(reused, "node", reused.node_name)["spec"], "the taints to go", seconds=30)
    assert of(reused, "deployments", "-A")["items"] == []
    reused.kubectl("apply", "-f", "-", stdin=POD % reused.node_name)
    poll(lambda: of(reused, "pod", "p")["status"]["phase"] == "Running", lambda: reused.journal("kubelet"), seconds=60)
    reused.kubectl("delete", "pod", "p", "--now")


def test_a_node_joins_starts_anew_with_other_flags_and_goes(reused: KindContainer) -> None:
    from harness.clusters.kind.container import JoinRefused, KindContainer

    taint = {"key": "spot", "effect": "NoSchedule"}
    node = reused.join("w", KubeletFlags({"team": "a"}, [taint], "azure:///w", max_pods=7))
    reused.wait_ready("w")
    made = of(reused, "node", "w")
    assert (made["metadata"]["labels"]["team"], made["spec"]["providerID"]) == ("a", "azure:///w")
    assert taint in made["spec"]["taints"]
    assert made["status"]["capacity"]["pods"] == "7"
    assert node.sh("cat", "/etc/hostname").strip() == "w"
    node.write("/kind/word", "hello")
    assert node.read("/kind/word") == "hello"
    assert "journal of kubelet on w:" in node.journal("kubelet")
    node.write("/kind/words/first", "hello")
    assert node.read("/kind/words/first") == "hello"
    assert set(reused.memory()) == {reused.node_name, f"{reused.node_name}-w"}
    assert reused.deaths() == ""

    other = KindContainer(name=reused.node_name, reuse=True).start()
    assert set(other.nodes) == {"w"}
    assert other.kubeconfig() == reused.kubeconfig()
    other.stop()

    reused.kubectl("delete", "node", "w")
    reused.rejoin("w", KubeletFlags({"team": "b"}))
    assert of(reused, "node", "w")["metadata"]["labels"]["team"] == "b"
    reused.leave("w")
    assert of(reused, "node", "w")["metadata"]["name"] == "w"  # as when a VM is deleted
    assert set(reused.memory()) == {reused.node_name}
    reused.kubectl("delete", "node", "w")
    with pytest.raises(JoinRefused, match=r"unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels"):
        reused.join("bad", KubeletFlags({"kubernetes.io/team": "a"}))
    assert reused.nodes == {}


def test_an_image_is_loaded_into_all_nodes(reused: KindContainer) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("empty"))
    image = f"karpenter-harness-test:{reused.node_name}"
    client = reused.get_docker_client().client
    client.api.import_image_from_data(data.getvalue(), repository=image.partition(":")[0], tag=reused.node_name)
    try:
        node = reused.join("w2")
        reused.load_image(image)
        for each in (reused, node):
            assert image in each.sh("ctr", "--namespace=k8s.io", "images", "list", "-q")
    finally:
        client.images.remove(image)
        reused.leave("w2")


def test_a_cluster_that_is_to_be_reused_needs_a_name() -> None:
    pytest.importorskip("testcontainers")
    from harness.clusters.kind.container import KindContainer

    with pytest.raises(ValueError, match="needs a name"):
        KindContainer("any", reuse=True)
