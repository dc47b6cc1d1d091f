"""`harness validate`, and the forms that stand beside the code in pull requests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from harness.reading.problems import Mark
from harness.reports.annotations import Annotation, as_github
from tests.cli.command import POOL, call
from tests.project.tree import ROOT

BAD = POOL.replace("spec:\n  template", "spec:\n  weight: 101\n  template", 1)
PLACE = "pools.yaml:6:3"
SAID = "NodePool/default: spec.weight: Invalid value: 101: spec.weight in body should be less than or equal to 100"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pools.yaml").write_text(BAD)
    (tmp_path / "good.yaml").write_text(POOL)
    return tmp_path


def test_a_refusal_stands_at_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "validate", "pools.yaml") == (
        1,
        f"{PLACE}: crd-schema: {SAID}\nprovider 1.14.0: 1 object, 1 refused\n",
        "",
    )
    assert call(capsys, "validate", "good.yaml") == (0, "provider 1.14.0: 1 object, nothing refused\n", "")
    assert call(capsys, "validate", "good.yaml", "--release", "9.9")[0] == 2
    assert call(capsys, "validate", "none.yaml")[::2] == (
        2,
        "none.yaml:1:1: cannot be read: no such file or directory\n",
    )


def test_a_release_decides(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "good.yaml").write_text(POOL.replace("team: blue", "kubernetes.azure.com/storageprofile: managed"))
    codes = [call(capsys, "validate", "good.yaml", "--release", release)[0] for release in ("1.12.2", "1.13.0")]
    assert codes == [0, 1]


def test_github(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "validate", "pools.yaml", "--format", "github")
    assert (code, out) == (1, f"::error file=pools.yaml,line=6,col=3,title=crd-schema::{SAID}\n")
    odd = Annotation("note", Mark("a,b:c.yaml", 1, 2), "r", "50 %\nmore: a,b")
    assert as_github([odd]) == "::notice file=a%2Cb%3Ac.yaml,line=1,col=2,title=r::50 %25%0Amore: a,b\n"


def test_sarif(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "validate", "pools.yaml", "--format", "sarif")
    (run,) = json.loads(out)["runs"]
    (result,) = run["results"]
    assert (code, result["ruleId"], result["level"], result["message"]["text"]) == (1, "crd-schema", "error", SAID)
    place = result["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "pools.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 6, "startColumn": 3},
    }
    assert run["tool"]["driver"]["rules"] == [{"id": "crd-schema"}]


def test_junit(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "validate", "pools.yaml", "--format", "junit")
    failure = ElementTree.fromstring(out).find(".//failure")
    assert failure is not None
    assert failure.get("message") == SAID
    suite = ElementTree.fromstring(out).find("testsuite")
    assert suite is not None
    assert {"name", "tests", "failures", "errors", "skipped"} <= set(suite.attrib)  # what junit-10.xsd asks for
    code, out, _ = call(capsys, "validate", "good.yaml", "--format", "junit")
    assert (code, ElementTree.fromstring(out).find(".//failure")) == (0, None)


@pytest.mark.parametrize(
    "command", [("validate",), ("upgrade-check", "--from", "1.13.1", "--to", "1.14.0"), ("explain",)]
)
def test_files_that_cannot_be_read_are_findings_too(
    here: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    (here / "bad.yaml").write_text("a: b: c\n")
    code, out, err = call(capsys, *command, "bad.yaml", "--format", "github")
    assert (code, err) == (2, "")
    assert out.startswith("::error file=bad.yaml,line=1,col=5,title=input::not YAML: ")


def test_an_upgrade_and_a_pending_pod(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "good.yaml").write_text(POOL.replace("team: blue", "kubernetes.azure.com/storageprofile: managed"))
    code, out, _ = call(
        capsys, "upgrade-check", "--from", "1.12.2", "--to", "1.13.0", "good.yaml", "--format", "github"
    )
    assert code == 1
    assert re.search(r"^::error file=good.yaml,line=7,col=\d+,title=", out, re.MULTILINE)
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {nodeSelector: {team: red}, containers: [{name: c, image: c}]}\n"
    (here / "pod.yaml").write_text(pod)
    (here / "good.yaml").write_text(POOL)
    _, out, _ = call(capsys, "explain", "good.yaml", "pod.yaml", "--format", "github")
    assert out.startswith("::error file=pod.yaml,line=3,col=12,title=pending::")
    assert out.count("\n") == 1


def test_action_and_hooks_call_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    runs = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    hooks = [hook["entry"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())]
    from harness.cli import COMMANDS

    called = [match[1] for text in (*runs, *hooks) for match in re.finditer(r"\bharness ([a-z-]+)", text)]
    assert set(called) <= COMMANDS.keys()
    assert {"validate", "upgrade-check", "run"} <= set(called)
    assert call(capsys, "validate", str(ROOT / "docs/examples/nodepools"))[0] == 0


def test_the_schema_knows_the_fields_of_karpenters_kinds_and_kubernetes() -> None:
    jsonschema = pytest.importorskip(
        "jsonschema", reason="needs jsonschema: pip install 'karpenter-azure-harness[crds]'"
    )
    from harness.scenario.documentation.schema import json_schema

    schema = json_schema()
    judge = jsonschema.Draft7Validator(schema)
    assert not list(judge.iter_errors(yaml.safe_load(POOL)))
    (wrong,) = judge.iter_errors(
        yaml.safe_load(
            POOL.replace("metadata: {name: default}\nspec:", "metadata: {name: default}\nspec:\n  wieght: 3")
        )
    )
    assert "wieght" in wrong.message
    spec = {"anything": 1, "containers": [{"name": "c"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    (unknown,) = judge.iter_errors(pod)
    assert "anything" in unknown.message
    assert not list(judge.iter_errors({**pod, "apiVersion": "example.com/v1", "kind": "Widget"}))


SCENARIO = "scenario: s\ngiven: {manifests: [pools.yaml]}\nthen: [{pods: {bound: 0}}]\n"


def test_a_scenario_is_read_as_a_run_reads_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The manifests that it names are judged, under the release that it is given, and its own mistakes are told."""
    (here / "s.yaml").write_text(SCENARIO)
    said = f"{PLACE}: crd-schema: {SAID}\nprovider 1.14.0: 1 object, 1 refused\n"
    assert call(capsys, "validate", "s.yaml") == (1, said, "")
    (here / "s.yaml").write_text(SCENARIO.replace("pools.yaml", "good.yaml"))
    assert call(capsys, "validate", "s.yaml") == (0, "provider 1.14.0: 1 object, nothing refused\n", "")
    (here / "s.yaml").write_text(SCENARIO.replace("[pools.yaml]", "[pools.yaml, none.yaml], bogus: 1"))
    code, out, err = call(capsys, "validate", "s.yaml")
    assert (code, out) == (2, "")
    assert "given.bogus" in err
    (here / "s.yaml").write_text(SCENARIO.replace("[pools.yaml]", "[pools.yaml, none.yaml], region: westerope"))
    code, _, err = call(capsys, "validate", "s.yaml")
    assert code == 2
    assert "there is no file 'none.yaml'" in err
    assert "unknown region 'westerope'" in err


def test_each_case_of_a_scenario_has_its_release(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "good.yaml").write_text(POOL.replace("team: blue", "kubernetes.azure.com/storageprofile: managed"))
    matrix = "scenario: s\nmatrix: {karpenter: [1.12.2, 1.13.0]}\ngiven: {manifests: [good.yaml]}\nthen: [{pods: {bound: 0}}]\n"
    (here / "s.yaml").write_text(matrix)
    code, out, _ = call(capsys, "validate", "s.yaml")
    assert (code, out.splitlines()[-1]) == (1, "provider 1.12.2, 1.13.0: 1 object, 1 refused")
    assert call(capsys, "validate", "s.yaml", "--release", "1.12.2")[0] == 0


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
def test_input_without_anything_to_judge_says_so(here: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    (here / "header.yaml").write_text("scenario: s\nthen: [{pods: {bound: 0}}]\n")
    (here / "other.yaml").write_text(
        "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: c}\n"
    )
    for name in ("header.yaml", "other.yaml"):
        code, out, err = call(capsys, "validate", name, "--format", form)
        assert code == 0
        said = "nothing to judge: there is no object of a kind that is simulated\n"
        assert (out if form == "text" else err).endswith(said)
    for text in ("", "# nothing\n", "apiVersion: v1\nkind: List\nitems: []\n"):
        (here / "nothing.yaml").write_text(text)
        assert call(capsys, "validate", "nothing.yaml", "--format", form)[0] == 2


def test_a_uri_of_sarif_is_encoded(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "my pools 50%.yaml").write_text(BAD)
    _, out, _ = call(capsys, "validate", "my pools 50%.yaml", "--format", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20pools%2050%25.yaml"


NAMES = """
apiVersion: v1
kind: Pod
metadata: {name: "A_b"}
spec:
  containers:
  - {name: c, image: x, resources: {requests: {foo: 1}}}
"""
LABELS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {"a b": c}}
spec:
  replicas: -1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: c, image: x}]}
"""
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""


ROLLOUT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: abc}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x}]}
"""
DAEMONS = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {maxUnavailable: 10.5%}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x}]}
"""


@pytest.mark.parametrize(
    "text", [NAMES, LABELS, BUDGET, ROLLOUT, DAEMONS], ids=["names", "labels", "budget", "rollout", "daemons"]
)
def test_core_objects_are_judged_as_a_simulation_judges_them(
    text: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same places and the same words of the API server, in both commands and in a scenario that names the file."""
    (here / "core.yaml").write_text(text)
    code, _, simulated = call(capsys, "simulate", "core.yaml")
    assert code == 2
    refused = sorted(line.partition(": ")[::2] for line in simulated.splitlines())
    code, out, err = call(capsys, "validate", "core.yaml")
    assert (code, err) == (1, "")
    *lines, last = out.splitlines()
    told = sorted(line.partition(": ")[::2] for line in lines)
    assert [(place, text.split(": ", 2)[2]) for place, text in told] == [
        (place, text.split(": ", 2)[2]) for place, text in refused
    ]
    assert last == f"provider 1.14.0: 1 object, {len(lines)} refused"
    (here / "s.yaml").write_text("scenario: s\ngiven: {manifests: [core.yaml]}\nthen: [{pods: {bound: 0}}]\n")
    assert call(capsys, "validate", "s.yaml") == (1, out, "")


def test_what_another_object_of_the_files_decides_is_known(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {priorityClassName: high, containers: [{name: c, image: x}]}\n"
    (here / "pod.yaml").write_text(pod)
    assert call(capsys, "validate", "pod.yaml")[0] == 1
    priority = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n"
    (here / "pod.yaml").write_text(pod + priority)
    assert call(capsys, "validate", "pod.yaml") == (0, "provider 1.14.0: 2 objects, nothing refused\n", "")
