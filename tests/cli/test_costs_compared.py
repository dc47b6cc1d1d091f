"""`harness compare` opens with the cost: before and after, per hour and month, by NodePool; then nodes, moves, pods that wait."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.testing import deployment, nodeclass, nodepool, requirement
from tests.cli.command import call
from tests.cli.test_pages import page

Output = pytest.CaptureFixture[str]
ON_DEMAND = requirement("karpenter.sh/capacity-type", "on-demand")
SPOT = requirement("karpenter.sh/capacity-type", "spot")
D4S, D8S = 0.192, 0.384
"""USD per hour of Standard_D4s_v5 and Standard_D8s_v5 in eastus on demand, by the provider's static table."""


def size(name: str) -> dict[str, object]:
    return requirement("node.kubernetes.io/instance-type", name)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    small = [nodeclass(), nodepool(ON_DEMAND, size("Standard_D4s_v5")), deployment("web", cpu="3")]
    large = [nodeclass(), nodepool(ON_DEMAND, size("Standard_D8s_v5")), deployment("web", cpu="3")]
    narrow = [nodeclass(), nodepool(ON_DEMAND, size("Standard_D2s_v5")), deployment("web", cpu="3", replicas=2)]
    for name, objects in (("small", small), ("large", large), ("narrow", narrow)):
        Path(f"{name}.yaml").write_text(yaml.safe_dump_all(objects))
    return tmp_path


def test_the_cost_is_the_first_line(files: Path, capsys: Output) -> None:
    code, out, _ = call(capsys, "compare", "small.yaml", "large.yaml", "--html", "page.html")
    lines = out.splitlines()
    assert code == 1
    assert lines[0] == ("cost: 0.1920 → 0.3840 USD per hour, 140.16 → 280.32 USD per month of 730 hours (+140.16)")
    assert lines[1] == "nodes: 1 → 1; moves: 0 → 0"
    assert lines[2].startswith("this is the price of machines with Linux: disks, network and AKS itself are not in it")
    assert page(Path("page.html"))["cost"] == lines[:3]


def test_markdown_and_json_have_the_same_figures(files: Path, capsys: Output) -> None:
    _, text, _ = call(capsys, "compare", "small.yaml", "large.yaml")
    _, out, _ = call(capsys, "compare", "small.yaml", "large.yaml", "--format", "markdown")
    assert out.splitlines()[2] == f"- `{text.splitlines()[0]}`"
    (one,) = json.loads(call(capsys, "compare", "small.yaml", "large.yaml", "--format", "json")[1])["costs"]
    assert [one[side]["usd_per_hour"] for side in ("left", "right")] == [D4S, D8S]
    assert [one[side]["nodepools"] for side in ("left", "right")] == [{"default": D4S}, {"default": D8S}]
    assert one["right"]["usd_per_month"] == round(730 * D8S, 2)


def test_pods_that_become_pending_are_told_by_workload(files: Path, capsys: Output) -> None:
    _, out, _ = call(capsys, "compare", "small.yaml", "narrow.yaml")
    assert "pods that become pending: 2 (Deployment/web 2)" in out.splitlines()
    _, out, _ = call(capsys, "compare", "narrow.yaml", "small.yaml")
    assert "pods that get a place: 2 (Deployment/web 2)" in out.splitlines()


def test_several_nodepools_have_a_line_each(files: Path, capsys: Output) -> None:
    taint = {"key": "batch", "effect": "NoSchedule"}
    batch = nodepool(SPOT, size("Standard_D8s_v5"), name="batch")
    batch["spec"]["template"]["spec"]["taints"] = [taint]
    job = deployment("job", cpu="6")
    job["spec"]["template"]["spec"]["tolerations"] = [{"key": "batch", "operator": "Exists"}]
    objects = [*yaml.safe_load_all(Path("small.yaml").read_text()), batch, job]
    Path("two.yaml").write_text(yaml.safe_dump_all(objects))
    _, out, _ = call(capsys, "compare", "small.yaml", "two.yaml", "--spot-discount", "50%")
    lines = out.splitlines()
    assert lines[0].startswith(f"cost: {D4S:.4f} → {D4S + D8S / 2:.4f} USD per hour")
    assert lines[2].startswith(f"  NodePool batch: 0.0000 → {D8S / 2:.4f} USD per hour")
    assert lines[1].startswith(
        f"  NodePool default: {D4S:.4f} USD per hour, 140.16 USD per month of 730 hours, on both sides"
    )
    assert "supposed: spot costs 50% less than on demand" in lines


def test_guessed_prices_are_said_to_be(files: Path, capsys: Output) -> None:
    Path("spot.yaml").write_text(Path("small.yaml").read_text().replace("on-demand", "spot"))
    _, out, _ = call(capsys, "compare", "small.yaml", "spot.yaml")
    assert "the price on spot of Standard_D4s_v5 is guessed: no list of eastus is recorded" in out
    _, out, _ = call(capsys, "compare", "small.yaml", "spot.yaml", "--region", "westeurope")
    assert "guessed" not in out


def test_of_several_cases_those_that_cost_otherwise_are_named(files: Path, capsys: Output) -> None:
    cases = """\
scenario: what it costs
given: {region: eastus, manifests: [small.yaml]}
when: [settle]
then: [{cost: {perHour: {above: 0}}}]
cases:
- case: usual
- case: more
  given: {patches: [{of: Deployment/web, to: {spec: {replicas: 2}}}]}
"""
    Path("before.yaml").write_text(cases)
    Path("after.yaml").write_text(cases.replace("replicas: 2", "replicas: 3"))
    _, out, _ = call(capsys, "compare", "before.yaml", "after.yaml")
    lines = out.splitlines()
    assert lines[0] == "cost: another one in 1 of 2 cases"
    assert "more" in lines[1]
    assert lines[1].endswith("0.3840 → 0.5760 USD per hour, 280.32 → 420.48 USD per month of 730 hours (+140.16)")
    assert lines[2].startswith("over all cases: 0.5760 → 0.7680 USD per hour")
    assert lines[3] == "over all cases: nodes: 3 → 4; moves: 0 → 0"


def test_nodes_that_are_given_count_for_their_nodepool(files: Path, capsys: Output) -> None:
    def node(name: str, pool: str) -> dict[str, object]:
        labels = {
            "karpenter.sh/nodepool": pool,
            "karpenter.sh/capacity-type": "on-demand",
            "node.kubernetes.io/instance-type": "Standard_D4s_v5",
            "topology.kubernetes.io/region": "eastus",
        }
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}

    Path("one.yaml").write_text(yaml.safe_dump_all([node("aks-a", "left")]))
    Path("other.yaml").write_text(yaml.safe_dump_all([node("aks-a", "left"), node("aks-b", "right")]))
    value = json.loads(call(capsys, "compare", "one.yaml", "other.yaml", "--format", "json")[1])["costs"][0]
    assert value["left"]["nodepools"] == {"left": D4S}
    assert value["right"]["nodepools"] == {"left": D4S, "right": D4S}


CASES = """\
scenario: what it costs
given: {region: eastus, manifests: [two.yaml]}
when: [settle]
then: [{cost: {perHour: {above: 0}}}]
cases:
- {case: dear, given: {azure: {spotDiscount: 50%}}}
- {case: cheap, given: {azure: {spotDiscount: 80%}}}
- {case: usual, given: {azure: {spotDiscount: 80%}}}
"""


@pytest.fixture
def several(files: Path) -> Path:
    """Two files of three cases, of which each has NodePools on demand and on spot; the second supposes 60% for `dear`."""
    batch = nodepool(SPOT, size("Standard_D8s_v5"), name="batch")
    batch["spec"]["template"]["spec"]["taints"] = [{"key": "batch", "effect": "NoSchedule"}]
    job = deployment("job", cpu="6")
    job["spec"]["template"]["spec"]["tolerations"] = [{"key": "batch", "operator": "Exists"}]
    objects = [*yaml.safe_load_all(Path("small.yaml").read_text()), batch, job]
    Path("two.yaml").write_text(yaml.safe_dump_all(objects))
    Path("before.yaml").write_text(CASES)
    Path("after.yaml").write_text(CASES.replace("50%", "60%"))
    return files


def test_of_several_cases_each_supposition_has_a_line_with_its_cases(several: Path, capsys: Output) -> None:
    _, out, _ = call(capsys, "compare", "before.yaml", "after.yaml")
    dear, cheap, usual = (f"what it costs[{name}]" for name in ("dear", "cheap", "usual"))
    expected = [
        f"A, supposed: spot costs 50% less than on demand, in {dear}",
        f"B, supposed: spot costs 60% less than on demand, in {dear}",
        f"supposed: spot costs 80% less than on demand, in {cheap}, {usual}",
    ]
    assert [line for line in out.splitlines() if "supposed" in line] == expected
    value = json.loads(call(capsys, "compare", "before.yaml", "after.yaml", "--format", "json")[1])
    assert value["supposed"] == expected


def test_several_cases_have_a_total_by_nodepool(several: Path, capsys: Output) -> None:
    _, out, _ = call(capsys, "compare", "before.yaml", "after.yaml")
    before, after = (3 * D4S + D8S * factor for factor in (0.5 + 0.2 + 0.2, 0.4 + 0.2 + 0.2))
    lines = out.splitlines()
    total = next(place for place, line in enumerate(lines) if line.startswith("over all cases: "))
    assert lines[total].startswith(f"over all cases: {before:.4f} → {after:.4f} USD per hour")
    assert lines[total + 1].startswith(f"  NodePool batch: {before - 3 * D4S:.4f} → {after - 3 * D4S:.4f} USD per hour")
    assert lines[total + 2].startswith(f"  NodePool default: {3 * D4S:.4f} USD per hour")


def test_pods_that_get_a_place_are_counted_over_all_cases(several: Path, capsys: Output) -> None:
    Path("after.yaml").write_text(CASES.replace("two.yaml", "narrow.yaml").replace("above: 0", "below: 9"))
    Path("before.yaml").write_text(CASES.replace("two.yaml", "small.yaml"))
    _, out, _ = call(capsys, "compare", "after.yaml", "before.yaml")
    assert "pods that get a place: 6 (Deployment/web 6)" in out.splitlines()
    _, out, _ = call(capsys, "compare", "before.yaml", "after.yaml")
    assert "pods that become pending: 6 (Deployment/web 6)" in out.splitlines()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--spot-discount", "70%"),
        ("--region", "westeurope"),
        ("--cluster", "http"),
        ("--release", "1.13.1,1.14.0"),
        ("--kubernetes", "1.34.0"),
    ],
)
def test_what_both_karpenters_would_ignore_is_refused(option: str, value: str, several: Path, capsys: Output) -> None:
    code, out, err = call(capsys, "compare", "before.yaml", "--karpenter", "simulated,real", option, value)
    (line,) = err.splitlines()
    assert (code, out) == (2, "")
    assert line.endswith(f"--karpenter simulated,real runs each case as its file says: {option} cannot replace that")


def test_a_discount_of_a_step_holds_since_its_step(several: Path, capsys: Output) -> None:
    steps = "when: [{advance: 1h}, {azure: {spotDiscount: 10%}}, {advance: 1h}, {azure: {spotDiscount: null}}]"
    given = "given: {region: eastus, manifests: [two.yaml], azure: {spotDiscount: 50%}}"
    then = "then: [{cost: {perHour: {above: 0}}}]"
    Path("before.yaml").write_text(f"scenario: s\n{given}\nwhen: [settle]\n{then}\n")
    Path("after.yaml").write_text(f"scenario: s\n{given}\n{steps}\n{then}\n")
    _, out, _ = call(capsys, "compare", "before.yaml", "after.yaml")
    start = "supposed: spot costs 50% less than on demand"
    assert [line for line in out.splitlines() if "supposed" in line] == [
        f"A, {start}",
        f"B, {start}; supposed: spot costs 10% less than on demand, since 1h of virtual time; "
        "spot costs what the list says, since 2h of virtual time",
    ]
