"""The notes of a page: it hides nothing of what the terminal says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness import testing
from harness.cli import main
from harness.explain.labels.probes import default_objects


def test_a_page_tells_what_is_assumed_and_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the terminal says of assumptions and of guesses, the pages of `explain`, `simulate` and `upgrade-check` say, too."""
    family = testing.requirement("karpenter.azure.com/sku-family", "D")
    pool = testing.nodepool(testing.requirement("karpenter.sh/capacity-type", "spot", "on-demand"), family)
    pod = testing.pod("web", "3")
    files, page = tmp_path / "all.yaml", tmp_path / "page.html"
    files.write_text(yaml.safe_dump_all([*default_objects()[:1], pool, pod]), encoding="utf-8")
    upgrade = ["upgrade-check", "--from", "1.13.1", "--to", "1.14.0"]
    for command in (["explain"], ["simulate"], upgrade):
        main([*command, str(files), "--html", str(page)])
        text = page.read_text(encoding="utf-8")
        said = capsys.readouterr().out.splitlines()
        notes = (
            "assumed: ",
            "zone 0: ",
            "the zones of ",
            "the price on spot of ",
            "by what pods request: ",
            "this is the price of ",
        )
        told = [line for line in said if line.startswith(notes)]
        assert command != ["simulate"] or sum("price" in line for line in told) == 2
        assert told or command is upgrade
        assert [line for line in told if json.dumps(line)[1:-1] not in text and line not in text] == []
    assert "the zones of " in text
