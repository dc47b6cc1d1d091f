"""Design documents as policies: what they decide, what that does to a release, and where releases differ from them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from harness import World
from harness.cli import main
from harness.explain.labels.design_documents import claimed_keys, decisions, differences, differences_of
from harness.explain.labels.probes import LabelProbe, PodOutcome
from harness.karpenter.launch.failures.errors import LaunchError
from harness.karpenter.launch.images import node_image_version
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, POLICIES, UnknownRelease, provider
from harness.karpenter.releases.policies import NOT_SIMULATED
from harness.karpenter.validation import crd_set

AKS = "kubernetes.azure.com"
OCTOBER, NOVEMBER = POLICIES["design-2025-10-30"], POLICIES["design-2025-11-07"]


@pytest.mark.parametrize(
    ("key", "october", "november"),
    [
        (f"{AKS}/mode", "yes yes yes", "yes yes yes"),
        (f"{AKS}/fips_enabled", "yes yes yes", "yes yes yes"),
        (f"{AKS}/node-image-version", "yes yes yes", "undecided undecided undecided"),
        (f"{AKS}/ebpf-dataplane", "undecided yes yes", "undecided yes yes"),
        (f"{AKS}/cluster-health-monitor-checker-synthetic", "no yes undecided", "no yes undecided"),
        (f"{AKS}/cluster", "no no yes", "no no yes"),
        (f"{AKS}/security-type", "undecided no no", "undecided no no"),
        (f"{AKS}/sku-cpu", "yes yes yes", "yes yes yes"),
        (f"{AKS}/network-name", "no no no", "no no no"),
        ("karpenter.sh/capacity-type", "yes yes yes", "yes yes yes"),
        ("storageprofile", "no undecided no", "no undecided no"),
        ("example.com/team", "undecided undecided undecided", "undecided undecided undecided"),
    ],
)
def test_decisions(key: str, october: str, november: str) -> None:
    for policy, expected in ((OCTOBER, october), (NOVEMBER, november)):
        assert " ".join(str(one.answer) for one in decisions(policy, key)) == expected


@pytest.mark.parametrize("base", ["1.6.5", "1.4.0", "1.14.0"])
def test_a_policy_closes_the_domain_and_opens_its_keys(base: str) -> None:
    name = f"design-2025-11-07@{base}"
    probe = LabelProbe(lambda: World(karpenter=name))
    assert probe.pod(f"{AKS}/mode", "system").outcome is PodOutcome.BOUND
    assert probe.pod(f"{AKS}/scalesetpriority", "regular").outcome is PodOutcome.BOUND
    assert provider(name).version == ("design-2025-11-07" if base == "1.6.5" else name)
    for key in ("mode", "os-sku", "ebpf-dataplane", "sku-cpu", "cluster-health-monitor-checker-synthetic"):
        assert probe.nodepool(f"{AKS}/{key}", "x").settable, key
    for key in ("cluster", "hostedvm", "foo", "node-image-version"):
        (rejection,) = probe.nodepool(f"{AKS}/{key}", "x").rejections
        assert (rejection.layer, rejection.message) == ("crd-cel", f'label domain "{AKS}" is restricted')
    assert probe.node[0][f"{AKS}/mode"] == "user"


def test_why_the_version_of_the_image_is_not_simulated() -> None:
    """AKS writes it on its machines and names images of its shared galleries only; elsewhere no size would have a value."""
    key = f"{AKS}/node-image-version"
    for mode, gallery in (("aksscriptless", ""), ("aksmachineapi", "AKSUbuntu")):
        probe = LabelProbe(partial(World, karpenter="design-2025-10-30@1.14.0", provision_mode=mode))
        assert probe.node[0].get(key, "").partition("-")[0] == gallery
        assert probe.pod(key, "x").outcome is PodOutcome.NO_KNOWN_VALUES
    with pytest.raises(LaunchError, match="CIG images are not supported yet"):
        node_image_version("/CommunityGalleries/AKSUbuntu-1/images/2404gen2containerd/versions/202512.18.0")
    assert OCTOBER.well_known - provider("design-2025-10-30").azure_well_known == set(NOT_SIMULATED) == {key}


def test_the_base_stays_as_it_is() -> None:
    assert LabelProbe(lambda: World(karpenter="1.6.5")).nodepool(f"{AKS}/foo", "x").settable
    assert provider("design-2025-11-07") is provider("design-2025-11-07@v1.6.5")
    own = [row for row in crd_set("design-2025-11-07").rules("NodePool") if AKS in row.id]
    assert len(own) == 2
    assert not [row for row in crd_set("1.6.5").rules("NodePool") if AKS in row.id]


def test_names_that_do_not_exist() -> None:
    for name in ("design-2025-11-08", "design-2025-11-07@1.99.0"):
        with pytest.raises(UnknownRelease):
            provider(name)


def test_differences_speak_of_keys_that_someone_knows() -> None:
    known = {*claimed_keys(), *(key for name in ALL_PROVIDER_RELEASES for key in provider(name).vocabulary.well_known)}
    known |= {"agentpool", *OCTOBER.open_keys, f"{AKS}/kubelet-identity-clientid"}
    known |= {f"{AKS}/ebpf-host-routing", f"{AKS}/hostedvm"}
    assert [row.id for row in differences()] == [f"D{number}" for number in range(1, 21)]
    assert {key for row in differences() for key in row.keys} <= known
    assert [row.id for row in differences_of(f"{AKS}/scalesetpriority")] == ["D13", "D14"]


def diff(capsys: pytest.CaptureFixture[str], *names: str) -> str:
    assert main(["labels", "diff", *names]) == 0
    return capsys.readouterr().out


def test_a_document_against_a_release(capsys: pytest.CaptureFixture[str]) -> None:
    text = diff(capsys, "design-2025-11-07", "1.14.0")
    parts = dict(part.split("\n", 1) for part in text.split("\n\n")[1:] if "\n" in part)
    expected: dict[str, list[str]] = {
        f"{AKS}/cluster": ["a pod may ask: no → yes", "a NodePool may set it: no → yes", "  D6: "],
        f"{AKS}/cluster-health-monitor-checker-synthetic": ["a NodePool may set it: yes → no (crd-cel)", "  D1: "],
        f"{AKS}/os-sku-effective": ["on the Node: no → yes (kubelet (base): Ubuntu2404)", "  D12: "],
        "karpenter.azure.com/sku-hyperv-generation": ["a pod may ask: yes → no (ignored)", "  D11: "],
    }
    for key, lines in expected.items():
        for line in lines:
            assert line in parts[key], f"{key}: {parts[key]}"
    assert f"{AKS}/mode" not in parts
    assert "not about one key: D5, D7, D8, D9, D18, D19" in text


def test_two_releases(capsys: pytest.CaptureFixture[str]) -> None:
    text = diff(capsys, "1.6.5", "1.6.6")
    assert "another value: runaway) → yes (bound; another value: incompatible" in text.split(f"{AKS}/cluster")[1]
    assert diff(capsys, "1.14.1", "1.14.2") == "1.14.1 → 1.14.2\n\nno key differs\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["diff", "1.14.0"], "two releases are expected"),
        (["diff", "design-2025-10-30", "design-2025-11-07"], "one of the two must be a release"),
        (["diff", "1.14.0", "1.99.0"], "unknown release '1.99.0'"),
    ],
)
def test_bad_input(arguments: list[str], said: str, capsys: pytest.CaptureFixture[Any]) -> None:
    assert main(["labels", *arguments]) == 2
    assert said in capsys.readouterr().err
