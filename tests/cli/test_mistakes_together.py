"""One mistake does not hide another: those of options and of files, and of objects that a command does not need."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import POOL, call

BROKEN = POOL + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, imagee: x}]}\n"
WRONG_FIELD = "f.yaml:15:31: spec.containers[0].imagee: unknown field 'imagee'; did you mean 'image'?\n"
UNKNOWN = "unknown release '1.99'; known are 1.4.0 to 1.14.2\n"


@pytest.fixture
def file(here: Path) -> str:
    (here / "f.yaml").write_text(BROKEN)
    return "f.yaml"


def test_another_object_of_the_file_is_wrong(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("requirements", "--size", "Standard_D2s_v5", "--nodepool", file)
    code, out, err = call(capsys, *arguments)
    assert (code, out, err) == (2, "", WRONG_FIELD)
    code, _, err = call(capsys, *arguments, "--nodeclass", file)
    assert (code, err) == (2, WRONG_FIELD)  # once, although both options name it
    code, _, err = call(capsys, *arguments, "--release", "1.99")
    assert (code, err) == (2, f"{WRONG_FIELD}harness requirements: --release: {UNKNOWN}")


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_options_beside_files(command: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, command, file, "--release", "1.99")
    assert (code, err) == (2, f"harness {command}: --release: {UNKNOWN}{WRONG_FIELD}")


def test_both_releases_beside_files(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "upgrade-check", "--from", "1.99", "--to", "1.99", file)
    told = "".join(f"harness upgrade-check: {option}: {UNKNOWN}" for option in ("--from", "--to"))
    assert (code, err) == (2, told + WRONG_FIELD)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--node", ""], "--node: the name of a Node is expected"),
        (["--pod", ""], "--pod: the name of a pod is expected"),
        (["--node", "a", "--pod", "b"], "--pod asks about a pod, --node about a Node of a dump: one of them"),
    ],
)
def test_names_that_are_asked_for(
    arguments: list[str], said: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, "explain", file, *arguments)
    assert (code, err) == (2, f"harness explain: {said}\n")


@pytest.mark.parametrize("text", ["99999999h", "87601h"])
def test_a_time_that_is_too_far(text: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "simulate", file, "--until", text)
    said = f"{text} is too long: virtual time goes 87600h (ten years) ahead at most"
    assert (code, err) == (2, f"harness simulate: --until: {said}\n")


@pytest.mark.parametrize("text", ["[a]", "contexts: 3", "current-context: a\ncontexts: [3]\n"])
def test_what_is_no_kubeconfig(text: str, file: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("kubernetes", reason="pip install '.[clusters]'")
    (here / "config").write_text(text)
    code, _, err = call(capsys, "explain", "--kubeconfig", "config")
    assert code == 2
    assert err.count("\n") == 1
    assert "indices" not in err


@pytest.mark.parametrize("spec", ["spec: null\n", ""])
def test_a_pod_without_a_spec(spec: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pod.yaml").write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\n{spec}")
    code, _, err = call(capsys, "simulate", "pod.yaml")
    assert (code, err.partition(": ")[2]) == (2, "'spec' is missing\n")


def test_a_workload_whose_pods_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "web.yaml").write_text(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\n"
        "spec:\n  selector: {matchLabels: {app: db}}\n  template:\n    metadata: {labels: {app: db}}\n"
        "    spec: {runtimeClassName: gvisor, containers: [{name: c, image: c}]}\n"
    )
    said = (
        "StatefulSet/db gets no pods: create Pod db-0 in StatefulSet db failed error: "
        'pods "db-0" is forbidden: pod rejected: RuntimeClass "gvisor" not found\n'
    )
    for command in ("explain", "simulate"):
        code, out, err = call(capsys, command, "web.yaml")
        assert (code, err) == (0, "")
        assert said in out
        assert call(capsys, command, "web.yaml", "--fail-on", "rejected")[0] == 1


def test_a_workload_without_pods_says_why(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the API server refuses of a Deployment is no rejection of an object of the file, so the expectation says it."""
    kinds = "\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1\n---\n"
    spec = "{priorityClassName: hihg, containers: [{name: c, image: c}]}"
    template = f"{{metadata: {{labels: {{a: b}}}}, spec: {spec}}}"
    (here / "a.yaml").write_text(
        f"scenario: x\nthen: [{{pods: {{bound: [Deployment/web]}}}}]\n---{kinds}apiVersion: apps/v1\nkind: Deployment\n"
        f"metadata: {{name: web}}\nspec: {{selector: {{matchLabels: {{a: b}}}}, template: {template}}}\n"
    )
    code, out, _ = call(capsys, "run", "a.yaml")
    assert code == 1
    assert "why       Deployment/web gets no pods: " in out
    assert "no PriorityClass with name hihg was found; did you mean 'high'?" in out


def test_a_runtime_class_of_nearly_that_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "web.yaml").write_text(
        "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata-mshv-vm-isolation}\nhandler: kata\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
        "spec: {runtimeClassName: kata-vm-isolation, containers: [{name: c, image: c}]}\n"
    )
    code, _, err = call(capsys, "explain", "web.yaml")
    assert code == 2
    assert "RuntimeClass \"kata-vm-isolation\" not found; did you mean 'kata-mshv-vm-isolation'?" in err


def test_what_the_api_server_did_not_check_does_not_come_first(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mistakes do, with the value that is nearest."""
    (here / "pool.yaml").write_text(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n  template:\n    spec:\n"
        "      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}\n"
        "      requirements: [{key: karpenter.sh/capacity-type, operator: in, values: [spot]}]\n"
    )
    code, _, err = call(capsys, "explain", "pool.yaml")
    assert code == 2
    (line,) = err.splitlines()
    assert line.startswith("pool.yaml:8:")
    assert line.endswith("; did you mean 'In'?")


def test_a_value_where_a_list_is_wanted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pool.yaml").write_text(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n  template:\n    spec:\n"
        "      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}\n"
        "      requirements: [{key: karpenter.azure.com/sku-family, operator: In, values: D}]\n"
    )
    code, _, err = call(capsys, "explain", "pool.yaml")
    assert code == 2
    assert err.rstrip().endswith("; write a list: [D]")


def test_a_pod_on_a_node_that_no_file_has(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: n1, containers: [{name: c, image: c}]}\n"
    )
    code, out, _ = call(capsys, "explain", "a.yaml")
    assert code == 0
    assert "\nPod/a: bound on Node n1, which no file has\n" in out


def test_a_field_that_stands_in_the_wrong_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  nodeSelector: {a: b}\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    labels: {app: web}\n"
        "    spec: {containers: [{name: c, image: c, tolerations: []}]}\n---\n"
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
        "  consolidateAfter: 30s\n  template:\n    requirements: []\n"
    )
    code, _, err = call(capsys, "explain", "a.yaml")
    assert code == 2
    said = dict(line.split(": unknown field ") for line in err.splitlines() if "unknown field" in line)
    assert {place.rpartition(": ")[2]: told for place, told in said.items()} == {
        "spec.nodeSelector": "'nodeSelector'; it belongs in spec.template.spec",
        "spec.template.labels": "'labels'; it belongs in spec.template.metadata",
        "spec.template.spec.containers[0].tolerations": "'tolerations'; it belongs in spec.template.spec",
        "spec.consolidateAfter": "'consolidateAfter'; it belongs in spec.disruption",
        "spec.template.requirements": "'requirements'; it belongs in spec.template.spec",
    }
