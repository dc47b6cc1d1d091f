"""Whatever stands in the fields of a file, and in a command's own words: no command prints anything of it that is obeyed."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from tests.plainlines.test_printing import obeyed

HOSTILE = "qa\x1b[31m\x9b2J\x7f\u202e\u2028\n::error::injected\n##[error]injected\r\x1b]0;title\x07qz"

POOL: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default", "labels": {"team": "a"}, "annotations": {"note": "b"}},
    "spec": {
        "weight": 1,
        "limits": {"cpu": "100"},
        "template": {
            "metadata": {"labels": {"team": "blue"}, "annotations": {"note": "b"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "taints": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}],
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
                "expireAfter": "720h",
            },
        },
        "disruption": {
            "consolidateAfter": "30s",
            "budgets": [{"nodes": "10%", "schedule": "0 0 * * *", "duration": "1h"}],
        },
    },
}
CLASS: dict[str, Any] = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {"imageFamily": "Ubuntu", "tags": {"owner": "a"}},
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}, "annotations": {"note": "b"}},
    "spec": {
        "nodeSelector": {"team": "blue"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"a": "b"}},
            }
        ],
    },
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "api", "namespace": "shop"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "api"}},
        "template": {
            "metadata": {"labels": {"app": "api"}},
            "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
        },
    },
}
OBJECTS = (POOL, CLASS, POD, DEPLOYMENT)
HEADER: dict[str, Any] = {
    "scenario": "a name",
    "description": "what it is about",
    "tags": ["tag"],
    "given": {
        "region": "eastus",
        "azure": {"faults": [{"what": "SkuNotAvailable", "where": {"size": "Standard_D2s_v5"}, "message": "a text"}]},
    },
    "when": ["settle", {"delete": ["Pod/web"]}],
    "then": [
        {"pods": {"pending": 7}},
        {"node": {"of": "Deployment/api", "labels": {"team": "red"}}},
        {"rejected": {"object": "NodePool/default", "key": "a/b"}},
    ],
}


def spoiled(value: Any) -> Iterator[Any]:
    """The value with one of its keys, texts or numbers replaced, each in turn."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield {HOSTILE if key == name else key: each for key, each in value.items()}
            for each in spoiled(inner):
                yield {**value, name: each}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for each in spoiled(inner):
                yield [*value[:index], each, *value[index + 1 :]]
    else:
        yield HOSTILE
        if isinstance(value, str):
            yield value + HOSTILE


def text_of(documents: Sequence[Any]) -> str:
    return "\n---\n".join(json.dumps(each) for each in documents) + "\n"


def files_of(documents: Sequence[Mapping[str, Any]], every: int, first: int) -> list[str]:
    """Files in which one field is hostile, of all that there are every so many."""
    found = [
        text_of([*documents[:index], each, *documents[index + 1 :]])
        for index, document in enumerate(documents)
        for each in spoiled(document)
    ]
    return found[first::every]


def called(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> str:
    """What a command prints; it ends as commands end."""
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "Traceback" not in err
    if "github" not in arguments:
        check(out)
    else:
        for line in out.splitlines():
            assert re.match(r"::(error|warning|notice) [^:]*::|[^:\s]", line), line
        assert set(obeyed(out)) <= {"\n"}
    check(err)
    return out + err


def check(text: str) -> None:
    assert set(obeyed(text)) <= {"\n"}, text
    for line in text.split("\n"):
        assert not line.lstrip().startswith("::"), line
        assert "##[" not in line, line
        # a line that was only kept from being a command would begin so: the line break itself came through
        assert not line.lstrip().startswith(("\\x3a:error", "#\\x23[error")), line


MANIFESTS = (
    ("simulate",),
    ("simulate", "-v", "--format", "json"),
    ("explain", "-v"),
    ("explain", "--size", "Standard_D2s_v5"),
    ("explain", "--format", "github"),
    ("validate",),
    *(("validate", "--format", form) for form in ("json", "sarif", "github", "junit")),
    ("upgrade-check", "--from", "1.6.5", "--to", "1.7.2"),
    ("requirements", "Standard_D2s_v5", "--manifests"),
    ("watch", "--plain"),
    ("capture",),
    ("compare", "--region", "eastus,westus2"),
    ("shrink", "--keep", "pending", "-k", ""),
)


@pytest.mark.parametrize("number", range(len(MANIFESTS)), ids=[" ".join(words) for words in MANIFESTS])
def test_manifests(number: int, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = MANIFESTS[number]
    file = here / "all.yaml"
    every = len(MANIFESTS) * (6 if command[0] in ("shrink", "capture") else 2)
    for text in files_of(OBJECTS, every, number):
        file.write_text(text)
        called(capsys, [*command, "all.yaml"])


SCENARIOS = (
    ("run",),
    ("run", "-v"),
    ("run", "--format", "json"),
    ("run", "--junit", "report.xml", "--html", "report.html"),
    ("validate", "--format", "github"),
    ("watch", "--plain"),
    ("sweep", "-n", "1"),
    ("shrink", "--keep", "failed"),
)


@pytest.mark.parametrize("number", range(len(SCENARIOS)), ids=[" ".join(words) for words in SCENARIOS])
def test_scenarios(number: int, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = SCENARIOS[number]
    header = copy.deepcopy(HEADER)
    if command[0] == "sweep":
        del header["then"]
    (here / "scenarios").mkdir()
    file = here / "scenarios" / "all.yaml"
    for text in files_of((header, POOL, CLASS, POD, DEPLOYMENT), 6 * len(SCENARIOS), number):
        file.write_text(text)
        called(capsys, [*command, "scenarios/all.yaml"])
        for report in ("report.xml", "report.html"):
            if (here / report).exists():
                check("".join((here / report).read_text().partition("<script")[:1]))


def test_everything_that_the_api_server_takes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is refused hides the rest; these fields may hold any text."""
    pool, pod = copy.deepcopy(POOL), copy.deepcopy(POD)
    pool["metadata"]["annotations"]["note"] = pod["metadata"]["annotations"]["note"] = HOSTILE
    pod["spec"]["containers"][0]["image"] = HOSTILE
    pod["spec"]["tolerations"] = []
    size = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D4s_v5"]}
    pool["spec"]["template"]["spec"]["requirements"].append(size)  # each size is refused by itself, with the same text
    header = {**HEADER, "scenario": HOSTILE, "description": HOSTILE, "then": [{"pods": {"pending": 7}}]}
    header["given"] = {"azure": {"faults": [{"what": "SkuNotAvailable", "message": HOSTILE, "times": "always"}]}}
    del header["when"]
    (here / "all.yaml").write_text(text_of([header, pool, CLASS, pod, DEPLOYMENT]))
    shown = called(capsys, ["run", "all.yaml", "-v", "--junit", "r.xml", "--html", "r.html", "--trace", "traces"])
    assert "qa\\x1b[31m" in shown
    check((here / "r.xml").read_text())
    (trace,) = (here / "traces").iterdir()
    for command in (["watch", "--plain", str(trace)], ["compare", str(trace), str(trace), "-v"]):
        called(capsys, command)
    (here / "plain.yaml").write_text(text_of([pool, CLASS, pod, DEPLOYMENT]))
    for command in MANIFESTS:
        if command[0] in ("simulate", "explain", "validate", "watch"):
            called(capsys, [*command, "plain.yaml"])


@pytest.mark.parametrize("name", ["a\n::error::x.yaml", "b\x1b[31m.yaml", "c\udcff.yaml", "##[error]d.yaml"])
def test_names_of_files(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "scenarios").mkdir()
    (here / "scenarios" / name).write_text("scenario: s\nthen:\n- bad: 1\n")
    for command in (
        ("run",),
        *(("validate", "--format", form) for form in ("text", "json", "sarif", "github", "junit")),
    ):
        called(capsys, [*command, "scenarios"])
    called(capsys, ["run", f"no{name}"])


OPTIONS = (
    ("simulate", "x.yaml", "--release"),
    ("simulate", "x.yaml", "--region"),
    ("simulate", "x.yaml", "--option"),
    ("simulate", "x.yaml", "--quota"),
    ("simulate", "x.yaml", "--fault"),
    ("simulate", "x.yaml", "--until"),
    ("simulate", "x.yaml", "--trace"),
    ("simulate",),
    ("run", "x.yaml", "-k"),
    ("run", "x.yaml", "--shard"),
    ("run", "x.yaml", "--crds"),
    ("run", "x.yaml", "-n"),
    ("labels", "explain"),
    ("labels",),
    ("requirements",),
    ("shrink", "x.yaml", "--keep"),
    ("capture", "x.yaml", "--pod"),
    ("compare",),
    ("completion",),
    ("options", "--release"),
    ("sweep",),
    (),
)


@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
def test_words_of_a_command(words: Sequence[str], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "x.yaml").write_text(text_of(OBJECTS))
    called(capsys, [*words, HOSTILE])
    called(capsys, [*words, f"--{HOSTILE}"])


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("spec: {priority: LONG, containers: [{name: c, image: x}]}", id="a value"),
        pytest.param("spec: {? xLONG : 1, containers: [{name: c, image: x}]}", id="a name"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif", "junit"])
def test_a_mistake_is_no_longer_than_one_reads(
    document: str, form: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\n{document.replace('LONG', '9' * 300_000)}\n"
    (here / "long.yaml").write_text(text)
    printed = called(capsys, ["validate", "long.yaml", "--format", form])
    assert "99999999" in printed
    assert len(printed) < 100_000
