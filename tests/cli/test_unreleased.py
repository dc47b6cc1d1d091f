"""What is not released yet takes part where it is named, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, KNOWN_RELEASES, UNRELEASED, releases_of
from tests.cli.command import call
from tests.small_world import POOL


@pytest.fixture
def pool(tmp_path: Path) -> str:
    (tmp_path / "pool.yaml").write_text(POOL)
    return str(tmp_path / "pool.yaml")


def test_it_is_no_part_of_all_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert UNRELEASED == ("next",)
    assert (*ALL_PROVIDER_RELEASES, "next") == KNOWN_RELEASES
    assert releases_of("next") == ("next",)
    _, out, _ = call(capsys, "defaults", "--format", "json")
    assert "next" not in json.loads(out)
    _, out, _ = call(capsys, "defaults", "--release", "next")
    assert "1.15.0" in out


def test_it_is_suggested(capsys: pytest.CaptureFixture[str], pool: str) -> None:
    code, _, err = call(capsys, "explain", "--release", "nxt", pool)
    assert (code, err) == (2, "harness explain: --release: unknown release 'nxt'; did you mean 'next'?\n")


def test_node_repair_starts_with_the_older_controller_only(capsys: pytest.CaptureFixture[str], pool: str) -> None:
    """Core pkg/controllers/disruption/repair.go NewRepair; the provider's policies name no action."""
    opened = ("explain", "--release", "next", "--option", "feature-gates=NodeRepair=true")
    code, _, err = call(capsys, *opened, pool)
    assert (code, err) == (
        2,
        "harness explain: --option: the controller of next does not start with NodeRepair=true: its repair policies name no action; "
        "set legacy-node-repair=true, which repairs nothing\n",
    )
    assert call(capsys, *opened, "--option", "legacy-node-repair=true", pool)[0] != 2
    code, _, err = call(capsys, "explain", "--option", "legacy-node-repair=true", pool)
    assert (code, err) == (
        2,
        "harness explain: --option: provider 1.14.0 has no option 'legacy-node-repair'; it came with next\n",
    )


@pytest.mark.parametrize("release", ["1.14.0", "next"])
def test_the_gate_of_capacity_buffers_is_not_taken_silently(
    capsys: pytest.CaptureFixture[str], pool: str, release: str
) -> None:
    """The provider's charts have no CRD of them, so that a controller that watches them does not start."""
    opened = ("explain", "--release", release, "--option", "feature-gates=CapacityBuffer=true")
    code, _, err = call(capsys, *opened, pool)
    assert code == 2
    assert f"the controller of {release} does not start with CapacityBuffer=true" in err
    assert "take CapacityBuffer=true away" in err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "decoding scheduler config: neither YAML nor JSON"),
        ("[1]", "decoding scheduler config: no object"),
        (
            '{"podTopologySpread": {"defaultConstraints": [{"maxSkew": 0}]}}',
            "validating scheduler config, podTopologySpread.defaultConstraints[0].maxSkew must be greater than 0",
        ),
    ],
)
def test_an_option_of_its_own(capsys: pytest.CaptureFixture[str], pool: str, text: str, problem: str) -> None:
    code, _, err = call(capsys, "explain", "--release", "next", "--option", f"scheduler-config={text}", pool)
    assert (code, err) == (2, f"harness explain: --option: {problem}\n")
    code, _, err = call(capsys, "explain", "--option", f"scheduler-config={text}", pool)
    assert (code, err) == (
        2,
        "harness explain: --option: provider 1.14.0 has no option 'scheduler-config'; it came with next\n",
    )


def test_upgrade_check_tells_what_comes(capsys: pytest.CaptureFixture[str], pool: str) -> None:
    Path(pool).write_text(
        POOL.replace("spec:\n  template", "spec:\n  disruption: {consolidationPolicy: WhenEmpty}\n  template", 1)
    )
    code, out, _ = call(capsys, "upgrade-check", "--from", "1.14.2", "--to", "next", pool)
    assert code == 0
    assert "spec.disruption.consolidateAfter is taken; 1.14.2 refused it: Required value" in out
