"""`given.cluster` and `given.policy`: a broken limit is a mistake at its place, with the releases that it holds for."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main

PODS = "then: [{pods: {bound: 0}}]\n"


def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> tuple[int, str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.yaml").write_text(text)
    code = main(["run", "f.yaml"])
    out, err = capsys.readouterr()
    return code, err if code == 2 else out


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("{cluster: {identity: managed}}", []),
        ("{cluster: {networkDataplane: azure}}", []),
        (
            "{cluster: {nodeOs: [windows], ipFamilies: [IPv6]}}",
            [
                "f.yaml:2:19: given.cluster.nodeOs: node operating systems windows: only Linux nodes are supported; "
                "holds for 1.4.0 to 1.14.2: every size has the operating system linux "
                "(kaz pkg/providers/instancetype/instancetype.go)",
                "f.yaml:2:38: given.cluster.ipFamilies: IP families IPv6: IPv6 clusters are not supported; "
                "holds for 1.4.0 to 1.14.2: nodes boot without dual stack "
                "(kaz pkg/providers/imagefamily/bootstrap/aksbootstrap.go)",
            ],
        ),
        (
            "{hosting: nap, cluster: {clusterAutoscaler: true}}",
            [
                "f.yaml:2:33: given.cluster.clusterAutoscaler: node pools with the cluster autoscaler: NAP cannot be enabled "
                "while node pools have the cluster autoscaler; holds for 1.4.0 to 1.14.2: a rule of the AKS service, which no "
                "release of the provider changes; the feature AllowClusterAutoscalerAndNAP lifts it (AKS docs of 2026-06-25)"
            ],
        ),
    ],
)
def test_a_broken_limit(
    given: str, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run(tmp_path, monkeypatch, capsys, f"scenario: x\ngiven: {given}\n{PODS}")
    if lines:
        assert (code, text.splitlines()) == (2, lines)
    else:
        assert code == 0


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("{violated: [linux-only]}", ""),
        ("{}", "linux-only"),
        ("{violated: [linux-only, no-ipv6]}", "no-ipv6 broken"),
        ("{violated: [linux-onli]}", "did you mean 'linux-only'?"),
        ("{outdated: [linux-only]}", "linux-only broken"),
    ],
)
def test_the_expectation_names_exactly_what_is_broken(
    limits: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"scenario: x\ngiven: {{cluster: {{nodeOs: [windows]}}}}\nthen: [{{limits: {limits}}}]\n"
    code, out = run(tmp_path, monkeypatch, capsys, text)
    assert code == (1 if said else 0)
    assert said in out


def test_a_policy_on_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "then: [{labels: {are: {kubernetes.azure.com/foo: {value: x, nodepool: no}}}}]\n"
    code, _ = run(tmp_path, monkeypatch, capsys, f"scenario: x\ngiven: {{policy: design-2025-11-07}}\n{table}")
    assert code == 0
    code, _ = run(tmp_path, monkeypatch, capsys, f"scenario: x\ngiven: {{karpenter: 1.6.5}}\n{table}")
    assert code == 1
