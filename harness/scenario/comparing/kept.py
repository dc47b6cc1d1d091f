"""Differences from the real Karpenter that are known and kept: one file, with the reason and the evidence for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from atomicfiles.inputs import read_input
from harness.kube.go.patterns import PatternError, searcher, whole
from harness.reading.problems import Mark, Problem, ScenarioError, dotted

__all__ = ["Kept", "KeptDifferences"]


_ANY_FACT = "a fact that there is not"
"""Fits patterns that fit everything."""


class Kept(BaseModel):
    """One difference. `fact`, `simulated`, `real` and `case` are regular expressions (RE2's).

    An omitted pattern fits everything; without a `fact`, and then with a `case`, such cases are not compared at all.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    evidence: str
    fact: str | None = None
    simulated: str = ".*"
    real: str = ".*"
    case: str = ".*"
    releases: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if self.fact is None and self.case == ".*":
            raise ValueError("a fact is expected, or a case that is not compared")
        return self

    def leaves_out(self, case: str, release: str) -> bool:
        """Return whether a case is not compared."""
        of_release = not self.releases or release in self.releases
        return self.fact is None and of_release and _fits(self.case, case)

    def fits(self, case: str, release: str, fact: str, simulated: Any, real: Any) -> bool:
        """Return whether a difference matches."""
        if self.fact is None:
            return False
        texts = ((self.case, case), (self.fact, fact), (self.simulated, _text(simulated)), (self.real, _text(real)))
        return (not self.releases or release in self.releases) and all(_fits(*text) for text in texts)


@dataclass(frozen=True, slots=True)
class KeptDifferences:
    """All differences, in the order of the file."""

    all: Sequence[Kept] = ()

    @classmethod
    def read(cls, path: Path) -> KeptDifferences:
        """Read a YAML file, which is a list. Raises ScenarioError with all its mistakes."""
        name = str(path)
        try:
            entries = yaml.safe_load(read_input(path))
        except (OSError, yaml.YAMLError) as error:
            raise ScenarioError(
                [Problem(Mark(name, 1, 1), "", f"cannot be read: {error}".replace("\n", " "))]
            ) from None
        if not isinstance(entries, list):
            raise ScenarioError([Problem(Mark(name, 1, 1), "", "a list of differences is expected")])
        problems: list[Problem] = []
        differences: list[Kept] = []
        for number, entry in enumerate(entries):
            try:
                differences.append(Kept.model_validate(entry))
                for pattern in ("case", "fact", "simulated", "real"):
                    whole(getattr(differences[-1], pattern) or "")
                if differences[-1].fact is not None and _fits(differences[-1].fact, _ANY_FACT):
                    message = (
                        "a fact that fits everything excuses everything: leave it out, and the case is not compared"
                    )
                    problems.append(Problem(Mark(name, 1, 1), dotted((number, "fact")), message))
            except ValidationError as error:
                problems += [
                    Problem(Mark(name, 1, 1), dotted((number, *error["loc"])), error["msg"]) for error in error.errors()
                ]
            except PatternError as error:
                problems.append(Problem(Mark(name, 1, 1), f"[{number}]", f"no regular expression: {error}"))
        if problems:
            raise ScenarioError(problems)
        return cls(tuple(differences))

    def uncompared(self, case: str, release: str) -> str:
        """The reason why a case is not compared; empty when it is."""
        return next((difference.reason for difference in self.all if difference.leaves_out(case, release)), "")

    def reason(self, case: str, release: str, fact: str, simulated: Any, real: Any) -> str:
        """The reason why a difference is allowed; empty when it is not."""
        return next(
            (difference.reason for difference in self.all if difference.fits(case, release, fact, simulated, real)), ""
        )


def _fits(pattern: str, text: str) -> bool:
    return bool(searcher(whole(pattern))(text))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
