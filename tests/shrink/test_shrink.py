"""`harness shrink`: small, 1-minimal, and what it says holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.reading.problems import ScenarioError
from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.files import load_text
from harness.scenario.language.writing import scenario_text
from harness.scenario.running.runner import Runner
from harness.shrink.reduction import smaller_list, smaller_values, without
from harness.shrink.shrinking import shrink
from harness.shrink.verdicts import UnknownVerdict, causes_of
from tests.cli.command import call
from tools.fleet import fleet


@pytest.mark.parametrize("needed", [set(), {0}, {7}, {0, 48}, {3, 4, 5}, set(range(12))], ids=str)
def test_a_list_becomes_what_is_needed(needed: set[int]) -> None:
    assert set(smaller_list(range(49), lambda part: needed <= set(part))) == needed


def test_a_value_loses_fields_items_and_height() -> None:
    value = {"kind": "K", "a": {"b": [1, {"c": 40, "d": 2}, 3]}, "e": {"f": "16Gi"}, "g": True}

    def holds(one: Any) -> bool:
        return any(
            isinstance(item, dict) and item.get("c", 0) > 3 for item in one.get("a", {}).get("b", ())
        ) and "f" in one.get("e", {})

    assert smaller_values(value, holds, frozenset({("kind",)})) == {
        "kind": "K",
        "a": {"b": [{"c": 20}]},
        "e": {"f": "1"},
    }
    assert value["g"] is True  # what was given stays as it was


POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: POOL, labels: {team: blue}}
spec:
  weight: 7
  disruption: {consolidateAfter: 1m}
  template:
    metadata: {labels: {rack: "7"}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
"""
CLASS = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: {osDiskSizeGB: 128}\n"
LONELY = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeSelector: {rack: '8'}, containers: [{name: c, image: c}]}\n"


def fleet_with_a_pod_in_need() -> str:
    """A fleet of 49 objects, in which one pod asks for what no NodePool gives."""
    lonely = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lonely", "labels": {"app": "lonely"}},
        "spec": {
            "nodeSelector": {"team": "nobody"}, "tolerations": [{"operator": "Exists"}], "priorityClassName": "system-node-critical",
            "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "2", "memory": "4Gi"}}}],
        },
    }  # fmt: skip
    found = [*fleet(300, 3), lonely]
    extra = [{**found[-2], "metadata": {**found[-2]["metadata"], "name": f"more-{n}"}} for n in range(49 - len(found))]
    return scenario_text(
        {"scenario": "a fleet", "then": [{"pods": {"pending": {"at least": 0}}}]}, [*[*found, *extra][:48], lonely]
    )


def case_of(text: str) -> Any:
    (scenario,) = load_text(text, file="s.yaml")
    return scenario.cases[0]


def objects(text: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(text) if "kind" in one]


@pytest.mark.slow
def test_a_fleet_becomes_a_pod_and_a_pool() -> None:
    text = fleet_with_a_pod_in_need().replace("pending: {at least: 0}", "pending: 1")
    assert len(objects(text)) == 49
    found = shrink(case_of(text), "pending=team")
    assert found.minimal
    assert len(objects(found.text)) <= 4
    assert len(found.text.encode()) < 1024
    assert Runner().run(case_of(found.text)).outcome is Outcome.PASSED


def test_nothing_more_can_go() -> None:
    """No object and no field can be left out: it is tried with each."""
    lonely = LONELY.replace("{name: p}", "{name: p, labels: {a: b}}")
    text = "---\n".join(
        [
            "scenario: s\nthen: [{pods: {pending: 1}}]\n",
            POOL.replace("POOL", "one"),
            POOL.replace("POOL", "two"),
            CLASS,
            lonely,
        ]
    )
    found = shrink(case_of(text), "pending=incompatible requirements")
    kinds = [one["kind"] for one in objects(found.text)]
    assert sorted(kinds) == ["AKSNodeClass", "NodePool", "Pod"]
    again = shrink(case_of(found.text), "pending=incompatible requirements")
    assert again.text == found.text
    for number, one in enumerate(objects(found.text)):
        for key in one["metadata"]:
            if key != "name":
                pytest.fail(f"{key} of object {number} could have gone")
    assert "weight" not in found.text
    assert "osDiskSizeGB" not in found.text
    (pod,) = (one for one in objects(found.text) if one["kind"] == "Pod")
    assert list(pod["spec"]["nodeSelector"]) == ["rack"]


def test_a_refusal_stays_the_same_refusal() -> None:
    wrong = POOL.replace("POOL", "one").replace("weight: 7", "weight: 101")
    text = "---\n".join(
        [
            "scenario: s\ngiven: {karpenter: 1.13.1, region: westus2}\nthen: [{rejected: {object: NodePool/one}}]\n",
            wrong,
            POOL.replace("POOL", "two"),
            CLASS,
        ]
    )
    found = shrink(case_of(text), "rejected")
    assert "rejected" in found.text
    assert "given: {karpenter: 1.13.1}\n" in found.text  # a later default would be another release
    assert [one["metadata"]["name"] for one in objects(found.text)] == ["one"]
    assert Runner().run(case_of(found.text)).outcome is Outcome.PASSED


def test_an_interrupt_gives_the_smallest_so_far() -> None:
    text = "---\n".join(["scenario: s\nthen: [{pods: {pending: 1}}]\n", POOL.replace("POOL", "one"), POOL.replace("POOL", "two"), CLASS,
                         LONELY])  # fmt: skip

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    found = shrink(case_of(text), "pending", interrupt)
    assert not found.minimal
    assert len(objects(found.text)) < 4
    assert Runner().run(case_of(found.text)).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ("pendng", "unknown verdict 'pendng'; did you mean 'pending'?"),
        ("banana", "unknown verdict 'banana'; one of error, failed, pending, rejected, then, unsettled"),
        ("pending", "the scenario does not come to 'pending': no pod is pending"),
        ("failed=x", "failed=x: only pending=TEXT and rejected=TEXT have a text"),
    ],
)
def test_verdicts_that_are_none(keep: str, said: str) -> None:
    text = "---\n".join(["scenario: s\nthen: [{pods: {bound: 0}}]\n", CLASS])
    with pytest.raises(UnknownVerdict) as caught:
        shrink(case_of(text), keep)
    assert str(caught.value) == said


def test_the_command_on_a_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: x}\nspec: {nodeSelector: {rack: '8'}, containers: [{name: c, image: c}]}\n"
    (tmp_path / "dump.yaml").write_text(
        "---\n".join([POOL.replace("POOL", "one"), POOL.replace("POOL", "two"), CLASS, pod])
    )
    small = tmp_path / "small.yaml"
    code, out, err = call(capsys, "shrink", str(tmp_path / "dump.yaml"), "--keep", "pending", "-o", str(small))
    assert (code, err) == (0, "")
    assert "3 objects" in out
    assert out.rstrip().endswith("nothing more can go")
    assert call(capsys, "run", str(small))[0] == 0
    code, _, err = call(capsys, "shrink", str(tmp_path / "none.yaml"), "--keep", "pending")
    assert (code, "cannot be read" in err) == (2, True)


def test_a_workload_stays_one_that_an_api_server_takes() -> None:
    """An empty selector and a template without containers would make the same five pods here, and none on a real API server."""
    text = """scenario: s
then: [{pods: {pending: 5}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}
"""
    (small,) = objects(shrink(case_of(text), "then").text)
    assert small["spec"]["selector"] == {"matchLabels": {"app": "web"}}
    assert small["spec"]["template"]["spec"]["containers"]


def test_an_output_that_cannot_be_written_is_told_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "none" / "small.yaml"
    code, out, err = call(capsys, "shrink", str(tmp_path / "none.yaml"), "--keep", "pending", "-o", str(output))
    assert (code, out) == (2, "")
    assert err == f"harness shrink: --output {output}: there is no folder {output.parent}\n"


def test_without() -> None:
    value = {"a": [1, {"b": 2, "c": 3}]}
    assert without(value, ("a", 1, "b")) == {"a": [1, {"c": 3}]}
    assert without(value, ("a", 0)) == {"a": [{"b": 2, "c": 3}]}
    with pytest.raises(ScenarioError):
        load_text("scenario: s\n", file="s.yaml")


def test_all_causes_stay_and_no_name_becomes_another() -> None:
    """A taint of one NodePool beside sizes that another one does not have: 16 MiB are no amount that could be smaller, but a name."""
    taints = "taints: [{key: spot, value: x, effect: NoSchedule}]"
    tainted = POOL.replace("POOL", "spot").replace("nodeClassRef", f"{taints}\n      nodeClassRef")
    tiny = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: karpenter.azure.com/sku-memory, operator: In, values: ["16", "32"]}]}]
  containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]
"""
    header = "scenario: s\nthen: [{pods: {pending: 1}}]\n"
    found = shrink(case_of("---\n".join([header, tainted, POOL.replace("POOL", "other"), CLASS, tiny])), "pending")
    small = objects(found.text)
    assert sorted(one["kind"] for one in small) == ["AKSNodeClass", "NodePool", "NodePool", "Pod"]
    (one,) = (one for one in small if one["kind"] == "Pod")
    (term,) = one["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"][0]["values"] in (["16"], ["32"])


@pytest.mark.parametrize(
    ("sentence", "causes"),
    [
        ("", set()),
        (
            'incompatible with nodepool "c", daemonset overhead={"pods":"0"}, did not tolerate a=b:NoSchedule; '
            'all available instance types exceed limits for nodepool "b"',
            {("did not tolerate", "a"), ("all available instance types exceed limits for nodepool", "")},
        ),
        (
            "did not tolerate taint (taint=sku=gpu:NoSchedule); did not tolerate taint (taint=sku:NoExecute); "
            'no instance type met all requirements, requirements=x In [y], resources={"cpu":"1"}',
            {("did not tolerate taint", "sku"), ("no instance type met all requirements", "")},
        ),
        (
            "incompatible requirements, key team, team In [blue] not in team In [red]; "
            'incompatible requirements, label "foo" does not have known values',
            {("incompatible requirements", "team"), ("incompatible requirements", "foo")},
        ),
        (
            "unsatisfiable topology constraint for pod anti-affinity, key=kubernetes.io/hostname (counts = a: 1, podDomains = ",
            {("unsatisfiable topology constraint for pod anti-affinity", "kubernetes.io/hostname")},
        ),
    ],
    ids=["nothing", "as up to core 1.4", "taints and sizes", "labels", "topology"],
)
def test_causes_of_a_sentence(sentence: str, causes: set[tuple[str, str]]) -> None:
    assert causes_of(sentence) == causes
