"""Differences from the real Karpenter that are known and kept: one file, with the reason and the evidence for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.kube.go.patterns import PatternError, searcher, whole
from harness.reading.problems import Mark, Problem, ScenarioError, dotted

__all__ = ["Kept", "KeptDifferences"]


class Kept(BaseModel):
    """One difference. `fact`, `simulated`, `real` and `case` are regular expressions (RE2's); those that are left out fit everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fact: str
    reason: str
    evidence: str
    simulated: str = ".*"
    real: str = ".*"
    case: str = ".*"
    releases: tuple[str, ...] = ()

    def fits(self, case: str, release: str, fact: str, simulated: Any, real: Any) -> bool:
        """Whether a difference matches."""
        texts = ((self.case, case), (self.fact, fact), (self.simulated, _text(simulated)), (self.real, _text(real)))
        return (not self.releases or release in self.releases) and all(
            searcher(whole(pattern))(text) for pattern, text in texts
        )


@dataclass(frozen=True, slots=True)
class KeptDifferences:
    """All of them, in the order of the file."""

    all: Sequence[Kept] = ()

    @classmethod
    def read(cls, path: Path) -> KeptDifferences:
        """Reads a YAML file, which is a list. Raises ScenarioError with all its mistakes."""
        name = str(path)
        try:
            found = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError) as error:
            raise ScenarioError(
                [Problem(Mark(name, 1, 1), "", f"cannot be read: {error}".replace("\n", " "))]
            ) from None
        if not isinstance(found, list):
            raise ScenarioError([Problem(Mark(name, 1, 1), "", "a list of differences is expected")])
        problems: list[Problem] = []
        kept: list[Kept] = []
        for number, entry in enumerate(found):
            try:
                kept.append(Kept.model_validate(entry))
                for pattern in ("case", "fact", "simulated", "real"):
                    whole(getattr(kept[-1], pattern))
            except ValidationError as error:
                problems += [
                    Problem(Mark(name, 1, 1), dotted((number, *each["loc"])), each["msg"]) for each in error.errors()
                ]
            except PatternError as error:
                problems.append(Problem(Mark(name, 1, 1), f"[{number}]", f"no regular expression: {error}"))
        if problems:
            raise ScenarioError(problems)
        return cls(tuple(kept))

    def reason(self, case: str, release: str, fact: str, simulated: Any, real: Any) -> str:
        """The reason why a difference is allowed; empty when it is not."""
        return next((each.reason for each in self.all if each.fits(case, release, fact, simulated, real)), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
