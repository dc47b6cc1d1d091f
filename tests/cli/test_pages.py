"""`--html`: the page of a command holds the JSON of what happened, and a file that cannot be written is refused first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import POOL, as_json, call
from tests.reports.test_picture import data_of

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""
CLASS = "\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: {}\n"
SCENARIO = f"scenario: a pod gets a node\nthen:\n- pods: {{bound: 1}}\n---{POOL}---{CLASS}---{POD}"


def page(path: Path) -> Any:
    return data_of(path.read_text())


@pytest.fixture
def files(here: Path) -> Path:
    (here / "all.yaml").write_text(POD + "---" + POOL)
    (here / "case.yaml").write_text(SCENARIO)
    (here / "bad.yaml").write_text(SCENARIO.replace("bound: 1", "bound: 2"))
    return here


def test_simulate(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "simulate", "all.yaml", "--html", "page.html")
    world = page(files / "page.html")["world"]
    (node,) = value["nodes"]
    (card,) = world["machines"]
    assert (card["name"], card["size"], card["zone"]) == (node["name"], node["size"], node["zone"])
    assert world["cost"][-1][1] == value["price_per_hour"]
    assert world["header"]["command"].startswith("harness simulate all.yaml")
    pod = next(lane for lane in world["lanes"] if lane["kind"] == "pod")
    assert pod["place"] == {"file": "all.yaml", "line": 2}


def test_explain(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "alone.yaml").write_text(POD.replace('"1"', '"900"'))
    value = as_json(capsys, "explain", "alone.yaml", "--html", "page.html")
    (waiting,) = page(files / "page.html")["world"]["pending"]
    assert waiting["pods"] == ["default/web"]
    assert waiting["why"] == value["pods"][0]["karpenter"]
    assert "It would help to request " in waiting["advice"][0]


WAITING = (
    POD.replace("{name: web}", "{name: gpu}").replace('requests: {cpu: "1"}', "limits: {nvidia.com/gpu: 1}")
    + "---"
    + POD.replace("{name: web}", "{name: big}").replace('"1"', '"14"')
    + "---"
    + POOL.replace("  template:", "  limits: {cpu: 12}\n  template:", 1).replace(
        "requirements: [", "requirements: [{key: karpenter.azure.com/sku-family, operator: In, values: [D, E]}, "
    )
)


def test_explain_says_why_no_size_will_do(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The card of a pod has the causes that the terminal counts, in the same words, and Sizes answer for it first."""
    (files / "waiting.yaml").write_text(WAITING)
    out = call(capsys, "explain", "waiting.yaml", "--html", "page.html")[1]
    world = page(files / "page.html")["world"]
    gpu, big = world["pending"]
    assert [one["pods"] for one in (gpu, big)] == [["default/gpu"], ["default/big"]]
    said = [line.removeprefix("  ").removesuffix(" (-v)") for line in out.splitlines()]
    for card, cause in ((gpu, "too small: 1 nvidia.com/gpu requested"), (big, "the NodePool's limit leaves 12 cpu")):
        assert any(line.endswith(cause) for line in card["causes"])
        assert [line for line in card["causes"] if line not in said] == []
    assert [one["name"] for one in world["asked"]] == ["gpu", "big"]
    group, number = world["opens"]
    assert '"nvidia.com/gpu":"1"' in world["asked"][group]["tries"][number]["why"]
    assert world["filters"]["resources"] == "room for the pod"  # there is no DaemonSet


def test_run_says_what_would_help_as_explain_does(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pod that waits in a case that passes has the causes and the advice that the terminal prints under one that fails."""
    waits = SCENARIO.replace(
        "bound: 1}", "pending: 1}\n- rejected: {object: NodePool/default, layer: nodepool-filter}"
    ).replace(
        "requirements: [",
        "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_Nonsense]}, ",
    )
    (files / "waits.yaml").write_text(waits)
    (files / "fails.yaml").write_text(waits.replace("pending: 1", "bound: 1"))
    assert call(capsys, "run", "waits.yaml", "--html", "page.html")[0] == 0
    (waiting,) = page(files / "page.html")["worlds"][0]["pending"]
    assert "the NodePool wants In [Standard_Nonsense]" in waiting["causes"][1]
    assert waiting["advice"][0].startswith("Did you mean Standard_")
    out = call(capsys, "run", "fails.yaml", "--html", "failed.html")[1]
    assert page(files / "failed.html")["worlds"][0]["pending"][0]["advice"] == waiting["advice"]
    assert waiting["advice"][0] in out


def test_run_has_pictures_of_few_cases(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "run", "case.yaml", "bad.yaml", "--html", "page.html")[0] == 1
    data = page(files / "page.html")
    assert [case["world"] for case in data["cases"]] == [0, 1]
    assert [world["outcome"] for world in data["worlds"]] == ["passed", "failed"]
    assert [one["held"] for one in data["worlds"][1]["expectations"]] == [False]


def test_run_has_pictures_of_what_failed_among_many(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = "cases:\n" + "".join(f"- {{case: n{number}, values: {{count: {number}}}}}\n" for number in range(21))
    (files / "case.yaml").write_text(SCENARIO.replace("then:", f"{cases}then:").replace("bound: 1", "bound: $(count)"))
    assert call(capsys, "run", "case.yaml", "-k", "[n", "--html", "page.html")[0] == 1
    data = page(files / "page.html")
    bad = [case["id"] for case in data["cases"] if case["outcome"] == "failed"]
    assert len(bad) == len(data["worlds"]) == 20
    assert data["unpictured"].startswith(
        "Cases that passed have no picture, for they are more than 20: `--pictures all`"
    )
    assert [case["id"] for case in data["cases"] if "world" in case] == bad
    assert call(capsys, "run", "case.yaml", "-k", "[n", "--html", "page.html", "--pictures", "all")[0] == 1
    data = page(files / "page.html")
    assert [case["world"] for case in data["cases"]] == list(range(21))
    assert data["unpictured"] == ""


@pytest.mark.parametrize("command", [("simulate", "all.yaml"), ("explain", "all.yaml"), ("run", "case.yaml")])
def test_a_page_that_cannot_be_written(
    command: tuple[str, str], files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = call(capsys, *command, "--html", "no/page.html")
    assert found == (2, "", f"harness {command[0]}: --html no/page.html: there is no folder no\n")


def test_upgrade_check(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pool.yaml").write_text(
        POOL.replace("team: blue", "kubernetes.azure.com/storageprofile: managed") + "---" + POD
    )
    code, _, err = call(
        capsys, "upgrade-check", "--from", "1.12.2", "--to", "1.14.0", "pool.yaml", "--html", "page.html"
    )
    assert (code, err) == (1, "")
    data = page(here / "page.html")
    assert [name.partition(", Kubernetes ")[0] for name in data["names"]] == ["1.12.2", "1.14.0"]
    assert all(", Kubernetes 1." in name for name in data["names"])
    assert data["pairs"][0]["nothing"] == ""
    (pair,) = data["pairs"]
    grave = [one for one in pair["differences"] if one["grave"]]
    assert any('label domain "kubernetes.azure.com" is restricted' in one["text"] for one in grave)
    assert pair["differences"][: len(grave)] == grave
    before, after = pair["worlds"]
    assert [one["header"]["release"] for one in (before, after)] == ["1.12.2", "1.14.0"]
    assert (len(before["machines"]), len(after["machines"])) == (1, 0)


def test_compare(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "compare", "case.yaml", "--region", "eastus,westus2", "--html", "page.html")
    assert (code, err) == (1, "")
    data = page(files / "page.html")
    assert data["names"] == ["region eastus", "region westus2"]
    (pair,) = data["pairs"]
    own = [one for one in data["groups"] if not one.get("follows")]
    assert data["summary"].startswith(f"{len(own)} difference")
    told = out.splitlines()
    assert told[: len(data["cost"]) + 1] == [*data["cost"], data["summary"]]
    assert sum(one["facts"] for one in data["groups"]) == len(pair["differences"])
    price = next(one for one in pair["differences"] if one["about"] == "price")
    assert [float(price["a"]), float(price["b"])] == [world["cost"][-1][1] for world in pair["worlds"]]
    assert call(capsys, "compare", "case.yaml", "case.yaml", "--html", "same.html")[0] == 0
    assert page(files / "same.html")["pairs"][0]["differences"] == []


def test_upgrade_check_without_pods(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pool.yaml").write_text(POOL)
    call(capsys, "upgrade-check", "--from", "1.6.5", "--to", "1.14.0", "pool.yaml", "--html", "page.html")
    (pair,) = page(here / "page.html")["pairs"]
    assert pair["nothing"] == "No pods were given: nothing ran, no cost is known."
    fresh = [one for one in pair["differences"] if one["b"].startswith("new label: ")]
    assert fresh
    assert {one["a"] for one in fresh} == {"no label"}


def test_compare_says_what_only_one_side_has(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "compare", "case.yaml", "--release", "1.6.5,1.14.0", "--html", "page.html", "-v")
    (pair,) = page(files / "page.html")["pairs"]
    offered = next(one for one in pair["differences"] if one["about"] == "sizes")
    assert offered["name"] == "default: sizes that the NodePool is offered"
    assert offered["a"].startswith("only in A: ")
    assert offered["b"].startswith("only in B: ")
    assert not any("characters)" in one["b"] for one in pair["differences"])  # a page has room: every size can be found
    group = next(
        one for one in page(files / "page.html")["groups"] if one["what"] == "sizes offered, before its requirements"
    )
    assert group["shared"]
    assert group["values"][0]["right"].count(", ") + 1 == offered["b"].count("Standard_") > 100
    assert "    A  only in A: " in out
    one, other = (world["header"]["kubernetes"] for world in pair["worlds"])
    also = [text for text in pair["also"] if text.startswith("B also ")]
    assert also == ([] if one == other else [f"B also has Kubernetes {other}, A {one}."])
    assert not any("[" in each["name"] or ": labels: " in each["name"] for each in pair["differences"])
    dropped = "sizes are not offered in A, A drops them by the filter unknown-size (sizes that this release of the provider does not"
    (line,) = [text for text in pair["also"] if dropped in text]
    assert line in out
    assert "other sizes are offered (filter unknown-size" in out  # what follows from it says from what


def test_upgrade_rows_name_their_object_and_both_sides(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pool.yaml").write_text(POOL + "---" + POD)
    call(capsys, "upgrade-check", "--from", "1.12.2", "--to", "1.14.0", "pool.yaml", "--html", "page.html")
    (pair,) = page(here / "page.html")["pairs"]
    assert {one["name"].partition(" ")[0] for one in pair["differences"]} == {"NodePool/default"}
    sizes = next(one for one in pair["differences"] if "new are Standard_" in one["text"])
    assert sizes["a"] == "does not allow them"
    assert "(sizes that this release of the provider does not know)" in sizes["notes"][0]
    label = next(one for one in pair["differences"] if one["a"] == "no label")
    assert "(written by kubelet from " in label["text"]
    assert pair["also"][0].startswith("No node that runs drifts for its hash: ")


def test_upgrade_page_has_the_moves_of_a_new_kubernetes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pool.yaml").write_text(POOL + "---" + POD + "---" + CLASS)
    options = ("--from", "1.14.0", "--to", "1.14.0", "--kubernetes", "1.33.0", "--to-kubernetes", "1.34.0")
    _, out, _ = call(capsys, "upgrade-check", *options, "pool.yaml", "--html", "page.html")
    (pair,) = page(here / "page.html")["pairs"]
    told = [line for line in pair["also"] if " move" in line]
    assert told
    assert told[0] in out
    assert "Then the control plane is upgraded to Kubernetes 1.34.0." in pair["also"]
    assert any("Drifted (K8sVersionDrift): " in line for line in pair["also"])


def test_causes_are_those_against_sizes_that_the_nodepool_allows(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What speaks only against sizes that the NodePool does not allow anyway explains nothing."""
    given = "given: {azure: {capacity: [{size: Standard_D4s_v5, priority: spot, vms: 0, error: SkuNotAvailable, at: start}]}}\nthen:"
    one = "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}, "
    (files / "spot.yaml").write_text(SCENARIO.replace("then:", given).replace("requirements: [", one))
    call(capsys, "run", "spot.yaml", "--html", "page.html")
    (waiting,) = page(files / "page.html")["worlds"][0]["pending"]
    causes = "\n".join(waiting["causes"])
    assert "Azure refuses it with SkuNotAvailable" in causes
    assert "not sold as spot" not in causes
