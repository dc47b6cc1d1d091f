"""Every mistake in a file is one line `file:line:col: path: what; hint`; the texts are pinned here, as users see them."""

from __future__ import annotations

import bz2
import gzip
from itertools import pairwise
from pathlib import Path

import pytest

from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load, load_text
from harness.scenario.running.worlds import new_world

THEN = "then: [{pods: {bound: 1}}]\n"


def lines(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        load_text(text, file="f.yaml")
    return str(caught.value).splitlines()


TEXTS = [
    # the file as a whole
    ("", ["f.yaml:1:1: the file is empty; a scenario begins with 'scenario: NAME'"]),
    ("# only a comment\n", ["f.yaml:1:1: the file is empty; a scenario begins with 'scenario: NAME'"]),
    ("- a\n- b\n", ["f.yaml:1:1: a document is a map, not a list; a scenario begins with 'scenario: NAME'"]),
    ("just text", ["f.yaml:1:1: a document is a map, not a single value; a scenario begins with 'scenario: NAME'"]),
    (
        "senario: x\n" + THEN,
        [
            "f.yaml:1:1: neither a scenario nor a Kubernetes object: 'apiVersion' and 'kind' missing; did you mean 'scenario'?"
        ],
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
        ["f.yaml:1:1: a manifest stands before the first scenario; begin the file with 'scenario: NAME'"],
    ),
    # YAML
    ("scenario: x\n\tthen: []\n", ["f.yaml:2:1: a tab cannot indent YAML; use spaces"]),
    (
        "scenario: x\nthen: [\n",
        ["f.yaml:3:1: not YAML: did not find expected node content while parsing a flow node"],
    ),
    (
        "scenario: !!python/name:os.system x\n" + THEN,
        ["f.yaml:1:11: tag !!python/name:os.system is not allowed; manifests hold plain values only"],
    ),
    ("scenario: x\nscenario: y\n" + THEN, ["f.yaml:2:1: key 'scenario' is already set in line 1"]),
    ("scenario: &a [*a]\n", ["f.yaml:1:15: alias *a lies inside the value that it names"]),
    ("scenario: *a\n", ["f.yaml:1:11: alias *a names no anchor"]),
    ("scenario: " + "[" * 200, ["f.yaml:1:110: nested more than 100 levels deep"]),
    ("scenario: " + "[" * 1_000_000, ["f.yaml:1:110: nested more than 100 levels deep"]),
    # keys and values of the header
    ("scenario: x\n", ["f.yaml:1:1: nothing is expected: 'then' is missing or empty"]),
    ("scenario:\n" + THEN, ["f.yaml:1:1: scenario: a value is missing"]),
    ("scenario: x\ngivn: {}\n" + THEN, ["f.yaml:2:1: givn: unknown key 'givn'; did you mean 'given'?"]),
    (
        "scenario: x\ngiven: {azure: {quota: {cores: -5}}}\n" + THEN,
        ["f.yaml:2:25: given.azure.quota.cores: a whole number from 0 is expected, not '-5'"],
    ),
    (
        "scenario: x\nwhen: [setle]\n" + THEN,
        ["f.yaml:2:8: when[0]: unknown step 'setle'; the only step without an argument is 'settle'"],
    ),
    (
        "scenario: x\nwhen: [{advance: 10x}]\n" + THEN,
        ["f.yaml:2:9: when[0].advance: a duration such as 30s, 10m or 1h30m is expected, not '10x'"],
    ),
    (
        "scenario: x\nwhen: [{delete: Pod/a, advance: 1m}]\n" + THEN,
        ["f.yaml:2:8: when[0]: one step has exactly one key"],
    ),
    (
        "scenario: x\nwhen: [{delete: web}]\n" + THEN,
        ["f.yaml:2:9: when[0].delete[0]: an object is named as Kind/name, or Kind/namespace/name, not 'web'"],
    ),
    (
        "scenario: x\nwhen: [{apply: web.yaml}]\n" + THEN,
        ["f.yaml:2:9: when[0].apply[0]: 'web.yaml' is not a file beside the scenario"],
    ),
    (
        "scenario: x\nthen: [{pods: {bound: [Deployment/shop], pending: {Deploymnt/shop: {contains: a}}}}, {node: {of: Job/a}}]\n",
        [
            "f.yaml:2:24: then[0].pods.bound[0]: 'Deployment/shop' is not an object of this scenario",
            "f.yaml:2:52: then[0].pods.pending.Deploymnt/shop: unknown kind of workload 'Deploymnt'; did you mean 'Deployment'?",
            "f.yaml:2:94: then[1].node.of: 'Job/a' is not an object of this scenario",
        ],
    ),
    (
        "scenario: x\nthen: [{requirments: {of: a}}]\n",
        ["f.yaml:2:9: then[0].requirments: unknown key 'requirments'; did you mean 'requirements'?"],
    ),
    (
        "scenario: x\nthen: [{node: {of: web, labels: {a: {valu: b}}}}]\n",
        [
            "f.yaml:2:16: then[0].node.of: an object is named as Kind/name, or Kind/namespace/name, not 'web'",
            "f.yaml:2:38: then[0].node.labels.a.valu: unknown key 'valu'; did you mean 'value'?",
        ],
    ),
    (
        "scenario: x\nthen: [{rejected: {layer: crdcel}}]\n",
        [
            "f.yaml:2:9: then[0].rejected.object: 'object' is missing",
            "f.yaml:2:20: then[0].rejected.layer: unknown value 'crdcel'; did you mean 'crd-cel' or 'crd-schema'?",
        ],
    ),
    (
        "scenario: x\nthen: [{requirements: {of: Standard_D4s_v5, capacity: {cpu: 1.5.5, memory: -1Gi}}}]\n",
        [
            "f.yaml:2:56: then[0].requirements.capacity.cpu: '1.5.5' is not a quantity; a number such as 4, 500m or 8Gi is expected",
            "f.yaml:2:68: then[0].requirements.capacity.memory: the quantity -1Gi is negative",
        ],
    ),
    (
        "scenario: x\nthen: [{rejected: {object: NodePool/defualt}}]\n---\n"
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}}\n",
        [
            "f.yaml:2:20: then[0].rejected.object: 'NodePool/defualt' is not an object of this scenario; "
            "did you mean 'NodePool/default'?"
        ],
    ),
    (
        "scenario: x\nmatrix: {karpneter: [1.14.0]}\n" + THEN,
        [
            "f.yaml:2:10: matrix.karpneter: axis 'karpneter' is neither a key of 'given' nor used as $(karpneter); "
            "did you mean 'karpenter' or 'kubernetes'?"
        ],
    ),
    (
        "scenario: a $(b)\n" + THEN,
        [
            "f.yaml:1:1: $(b) has no value; one of crds, hosting, karpenter, kubernetes, policy, provisionMode, region, seed"
        ],
    ),
    (
        "scenario: x\nmatrix: {karpenter: [1.13.0, 1.14.0]}\nthen: [{pods: {bound: 1, only: {karpenter: [1.15.0]}}}]\n",
        [
            "f.yaml:3:45: then[0].pods.only.karpenter[0]: '1.15.0' is not a value of axis 'karpenter'; "
            "did you mean '1.14.0' or '1.13.0'?"
        ],
    ),
    (
        "scenario: x\n" + THEN + "---\nscenario: x\n" + THEN,
        ["f.yaml:4:1: scenario: 'x' is already the name of the scenario in line 1"],
    ),
    # manifests
    (
        "scenario: x\n" + THEN + "---\n{apiVersion: v1, kind: Pod, metadata: {name: a},\n"
        " spec: {containers: [{name: c, resources: {requests: {cpu: -1}, limits: {memory: 1GiB}}}]}}\n",
        [
            "f.yaml:5:55: spec.containers[0].resources.requests.cpu: the quantity -1 is negative",
            "f.yaml:5:74: spec.containers[0].resources.limits.memory: '1GiB' is not a quantity; "
            "a number such as 4, 500m or 8Gi is expected",
        ],
    ),
    (
        "scenario: x\n" + THEN + "---\n{apiVersion: v1, kind: Pod, metadata: {name: a},\n"
        " spec: {containers: [{name: c}, null, 5], nodSelector: {}, nodeSelector: {a: 5}, priority: high,\n"
        "  topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}], overhead: {cpu: many},\n"
        "  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: 5}}}}\n",
        [
            "f.yaml:5:33: spec.containers[1]: a value is missing",
            "f.yaml:5:39: spec.containers[2]: a map is expected, not 5",
            "f.yaml:5:43: spec.nodSelector: unknown field 'nodSelector'; did you mean 'nodeSelector'?",
            'f.yaml:5:75: spec.nodeSelector.a: a text is expected, not 5; quote it: "5"',
            "f.yaml:5:82: spec.priority: a whole number is expected, not 'high'",
            "f.yaml:6:31: spec.topologySpreadConstraints[0]: 'topologyKey' is missing",
            "f.yaml:6:91: spec.overhead.cpu: 'many' is not a quantity; a number such as 4, 500m or 8Gi is expected",
            "f.yaml:7:28: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution: "
            "a list is expected, not 5",
        ],
    ),
    (
        "scenario: x\n"
        + THEN
        + "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: two}}\n",
        [
            "f.yaml:4:62: spec: 'selector' is missing",
            "f.yaml:4:62: spec: 'template' is missing",
            "f.yaml:4:69: spec.replicas: a whole number is expected, not 'two'",
        ],
    ),
    (
        "scenario: x\n" + THEN + "---\n{apiVersion: v1, kind: Pod, metadata: {name: a},\n"
        " spec: {containers: [{name: c, resources: {requests: {cpu: " + "9" * 5000 + "}}}]}}\n",
        [
            "f.yaml:5:55: spec.containers[0].resources.requests.cpu: '"
            + "9" * 2999
            + "…"
            + "9" * 981
            + "' is not a quantity; "
            "a number such as 4, 500m or 8Gi is expected"
        ],
    ),
    (
        "scenario: x\n" + THEN + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: yes}\n",
        ['f.yaml:6:12: metadata.name: metadata.name is not a text; quote it: "yes"'],
    ),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS, ids=[str(number) for number in range(len(TEXTS))])
def test_text_of_a_mistake(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    text = (
        "scenario: x\nsenario: y\ngiven: {regoin: eastus}\nwhen: [setle]\nthen: [{pods: {bund: 1}}]\n"
        "---\na: [\n---\n- list\n"
    )
    found = lines(text)
    assert [line.split(": ")[0] for line in found] == [
        "f.yaml:2:1",
        "f.yaml:3:9",
        "f.yaml:4:8",
        "f.yaml:5:16",
        "f.yaml:8:1",
        "f.yaml:9:1",
    ]


def test_names_that_nobody_knows_are_told_with_the_other_mistakes() -> None:
    text = (
        "scenario: x\n"
        "matrix: {karpenter: [1.14.0, 1.99.0], kubernetes: [latest]}\n"
        "given: {regoin: eastus, region: eastuss}\n"
        "then: [{requirements: {of: Standard_D4s_v99}}, {pods: {bund: 1}}]\n"
        "---\n"
        "scenario: [y]\n"
        "matrix: 5\n"
        "given: {crds: v0.1}\n"
        "when: [settle, {crds: v1.41.0}, {crds: design-2025-11-07@1.7.2}, {crds: $(karpenter)}]\n"
        "then: {}\n"
    )
    assert lines(text) == [
        "f.yaml:2:30: matrix.karpenter[1]: unknown release '1.99.0'; did you mean '1.7.0' or '1.5.0' or '1.4.0'?",
        "f.yaml:2:52: matrix.kubernetes[0]: a version such as 1.34.2 is expected, not 'latest'",
        "f.yaml:3:9: given.regoin: unknown key 'regoin'; did you mean 'region'?",
        "f.yaml:3:25: given.region: unknown region 'eastuss'; did you mean 'eastus' or 'eastus2' or 'westus'?",
        "f.yaml:4:24: then[0].requirements.of: unknown size 'Standard_D4s_v99' in eastus; "
        "did you mean 'Standard_D4s_v7' or 'Standard_D4s_v6' or 'Standard_D4s_v5'?",
        "f.yaml:4:56: then[1].pods.bund: unknown key 'bund'; did you mean 'bound'?",
        "f.yaml:6:1: scenario: a text is expected, not a list",
        "f.yaml:7:1: matrix: a map is expected, not '5'",
        "f.yaml:8:9: given.crds: unknown release 'v0.1', and no directory v0.1; did you mean '1.10.1'?",
        "f.yaml:9:17: when[1].crds: unknown release 'v1.41.0', and no directory v1.41.0; "
        "did you mean '1.4.0' or '1.14.0' or '1.13.0'?",
        "f.yaml:9:34: when[2].crds: 'design-2025-11-07@1.7.2' is a policy, not a release; "
        "a policy is one of controller and CRDs together, for the whole scenario: given.policy",
        "f.yaml:10:1: then: a list is expected, not a map",
    ]


def test_a_step_that_installs_crds_nobody_knows() -> None:
    """Alone in its file it is found when the world is made, which also knows what a matrix fills in."""
    text = "scenario: x\nmatrix: {karpenter: [1.14.0], to: [1.41.0]}\nwhen: [settle, {crds: $(to)}]\n" + THEN
    (scenario,) = load_text(text, file="f.yaml")
    with pytest.raises(ScenarioError) as caught:
        new_world(scenario.cases[0])
    assert str(caught.value) == (
        "f.yaml:3:17: when[1].crds: unknown release '1.41.0', and no directory 1.41.0; "
        "did you mean '1.4.0' or '1.14.0' or '1.13.0'?"
    )


@pytest.mark.parametrize("duration", ["9" * 400 + "d", "-5m", "5 minutes", "1e9h"])
def test_durations(duration: str) -> None:
    assert lines(f"scenario: x\nwhen: [{{advance: {duration}}}]\n" + THEN) == [
        f"f.yaml:2:9: when[0].advance: a duration such as 30s, 10m or 1h30m is expected, not '{duration}'"
    ]


def test_alias_bomb() -> None:
    names = "abcdefghijkl"
    bomb = "scenario: x\na: &a [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n" for below, name in pairwise(names))
    assert lines(bomb) == ["f.yaml:7:32: aliases expand to more than 400000 values"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x7fELF\0\0", "f.yaml:1:1: is binary, not YAML"),
        (gzip.compress(b"a: b\n"), "f.yaml:1:1: is compressed by gzip, not YAML; unpack it first: gunzip -k FILE"),
        (bz2.compress(b"a: b\n"), "f.yaml:1:1: is compressed by bzip2, not YAML; unpack it first: bunzip2 -k FILE"),
        (
            "a: b\n".encode("utf-16"),
            "f.yaml:1:1: is UTF-16, not YAML; in PowerShell: kubectl get … -o yaml | Out-File -Encoding utf8 FILE",
        ),
        (b"a: b\n\xff\xfe", "f.yaml:2:1: byte 0xff is not UTF-8"),
        (b"a: \x07b", "f.yaml:1:4: character U+0007 is not allowed in YAML"),
        (b"scenario: x\n" + b"# b\n" * 2_000_000, "f.yaml:1:1: is 7.6 MiB large; headers of scenarios end at 4 MiB"),
    ],
    ids=["binary", "gzip", "bzip2", "UTF-16", "encoding", "control character", "50 MB"],
)
def test_unreadable_files(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "f.yaml").write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "f.yaml", "f.yaml")
    assert str(caught.value) == expected


def test_absent_file_and_directory(tmp_path: Path) -> None:
    for path, what in (
        (tmp_path, "is a directory"),
        (tmp_path / "no.yaml", "cannot be read: no such file or directory"),
    ):
        with pytest.raises(ScenarioError, match=what):
            load(path)
