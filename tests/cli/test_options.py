"""`harness options`, and `--option` of the commands: one table of names, as `given.options` takes them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from harness.karpenter.releases import OPTIONS, ProviderOptions, find_option
from tests.cli.command import POOL, as_json, call

UNCOUNTED = POOL.replace(
    "requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]", "requirements: []"
)
POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1", memory: 7Gi}}}]}
"""


def test_every_option_of_a_simulation_has_its_row() -> None:
    assert sorted(one.field for one in OPTIONS) == sorted(one.name for one in fields(ProviderOptions))
    for one in OPTIONS:
        assert all(find_option(name) is one for name in (one.name, one.field, one.json or one.name))


def test_a_release_lists_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    new = {one["name"]: one for one in as_json(capsys, "options")["options"]}
    old = {one["name"] for one in as_json(capsys, "options", "--release", "1.4.1")["options"]}
    assert new.keys() - old == {
        "additional-tags",
        "aks-machines-pool-name",
        "dns-service-ip",
        "ignore-dra-requests",
        "linux-admin-username",
        "min-values-policy",
        "node-osdisk-diskencryptionset-id",
    }
    assert new["node-resource-group"]["environment"] == "AZURE_NODE_RESOURCE_GROUP"
    assert new["network-plugin-mode"]["default"] == "overlay"
    code, out, _ = call(capsys, "options", "--release", "1.6.5")
    assert code == 0
    assert out.startswith("provider 1.6.5; defaults are those of a simulation\n")
    assert "use-sig " in out
    assert "dns-service-ip" not in out
    assert call(capsys, "options", "--release", "1.6.55")[0] == 2


def test_options_change_what_is_computed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = ("requirements", "--size", "Standard_D2s_v5")
    few, many = (
        as_json(capsys, *size, "--option", f"vm-memory-overhead-percent={share}")["capacity"]["memory"]
        for share in ("0.3", "0.01")
    )
    assert int(few.removesuffix("Mi")) < int(many.removesuffix("Mi"))
    (here / "a.yaml").write_text(UNCOUNTED + POD)
    sizes = {
        share: as_json(capsys, "simulate", "a.yaml", "--option", f"vm-memory-overhead-percent={share}")["nodes"][0][
            "size"
        ]
        for share in ("0.01", "0.6")
    }
    assert sizes["0.01"] != sizes["0.6"]
    (node,) = as_json(
        capsys, "simulate", "a.yaml", "--option", "networkPlugin=none", "--option", "network-plugin-mode="
    )["nodes"]
    assert "kubernetes.azure.com/podnetwork-type" not in node["labels"]


@pytest.mark.parametrize(
    "command", [("explain", "a.yaml"), ("simulate", "a.yaml"), ("requirements", "--size", "Standard_D2s_v5")]
)
def test_mistakes_in_options(here: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    (here / "a.yaml").write_text(POOL)
    name = f"harness {command[0]}: "
    code, out, err = call(
        capsys, *command, "--release", "1.6.5", "--option", "netwok-plugin=x", "--option", "use-sig=maybe",
        "--option", "dns-service-ip=10.0.0.9", "--option", "additional-tags=a",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"{name}--option: unknown option 'netwok-plugin'; did you mean 'network-plugin' or 'network-plugin-mode' or 'network-policy'?",
        "--option: 'true' or 'false' is expected, not 'maybe'",
        "--option: provider 1.6.5 has no option 'dns-service-ip'; it came with 1.6.6",
        "--option: KEY=VALUE,… is expected, not 'a'",
    ]
    assert call(capsys, *command, "--option", "use-sig") == (
        2,
        "",
        f"{name}--option use-sig: NAME=VALUE is expected, for example network-plugin=none\n",
    )


_NAME = "a name of letters, digits, '-', '.', '_', '(' and ')'"


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("cluster-name=/tmp/x", f"{_NAME} is expected, not '/tmp/x'"),
        ("resource-group=", f"{_NAME} is expected, not ''"),
        ("node-resource-group=a/b", f"{_NAME} is expected, not 'a/b'"),
        ("subscription-id=mine", "a guid is expected, not 'mine'"),
        ("tenant-id=mine", "a guid is expected, not 'mine'"),
        ("AKS_MACHINES_POOL_NAME=Pool", "a name of up to 12 small letters and digits is expected, not 'Pool'"),
    ],
)
def test_names_that_azure_does_not_have(
    here: Path, capsys: pytest.CaptureFixture[str], option: str, expected: str
) -> None:
    (here / "a.yaml").write_text(POOL)
    assert call(capsys, "simulate", "a.yaml", "--option", option) == (
        2,
        "",
        f"harness simulate: --option: {expected}\n",
    )
