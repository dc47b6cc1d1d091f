"""Outcomes of real runs, as readable files, so that machines without the controller compare with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from harness.outputs import write_text

if TYPE_CHECKING:
    from harness.world.facts import Facts

__all__ = ["Recording", "recordings"]


@dataclass(frozen=True, slots=True)
class Recording:
    """One real run of a case: its facts, and the verdicts of its expectations. `case` is `FILE::NAME`."""

    case: str
    release: str
    expectations: Mapping[str, str]
    facts: Mapping[str, Any]

    @classmethod
    def of_run(cls, case: str, release: str, expectations: Mapping[str, str], facts: Facts) -> Recording:
        """The recording of a run that has ended."""
        return cls(case, release, dict(expectations), facts.found)

    def write(self, folder: Path) -> None:
        """Write the file of this case, in place of an earlier one."""
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^a-z0-9.]+", "-", self.case.rpartition("::")[2].lower()).strip("-")
        value = {
            "case": self.case,
            "release": self.release,
            "expectations": dict(self.expectations),
            "facts": self.facts,
        }
        text = yaml.safe_dump(value, sort_keys=True, width=140, allow_unicode=True)
        write_text(folder / f"{name}.yaml", f"# recorded from the real controller by --record\n{text}")


def recordings(folder: Path) -> list[Recording]:
    """All recordings of a folder, by name."""
    return [Recording(**yaml.safe_load(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.yaml"))]
