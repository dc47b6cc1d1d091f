"""The comparison of the release tables with the provider's tags (tools/first_tags)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider
from tools.first_tags import PROBES, differences, main


def test_every_probe_tells_releases_apart() -> None:
    for probe in PROBES:
        assert len({probe.means(provider(version)) for version in ALL_PROVIDER_RELEASES}) == 2, probe.flag


def test_a_source_that_shows_nothing_differs_wherever_a_flag_is_to_be_seen(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "empty.go").write_text("package pkg\n")
    git("add", ".")
    git("commit", "-m", "empty")
    for version in ALL_PROVIDER_RELEASES:
        git("tag", f"v{version}")
    wanted = sum(probe.means(provider(version)) for probe in PROBES for version in ALL_PROVIDER_RELEASES)
    found = list(differences(tmp_path))
    assert len(found) == wanted
    assert found[0].startswith(f"{PROBES[0].flag} of ")


def test_without_a_clone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("KARPENTER_CLONE", raising=False)
    assert main() == 3
    assert "KARPENTER_CLONE" in capsys.readouterr().err
