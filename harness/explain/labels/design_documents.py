"""The design documents' statements about label keys: cells of their tables, decisions, and where releases differ from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from harness.karpenter.labels.azure import AKS_CLUSTER, AKS_DOMAIN
from harness.karpenter.releases import Policy

__all__ = [
    "Answer",
    "Claim",
    "Decision",
    "Difference",
    "claim_of",
    "claimed_keys",
    "decisions",
    "differences",
    "differences_of",
]


class Answer(StrEnum):
    """A cell."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of the documents' tables; None where the cell is empty. ``bold``: the author would let users schedule on the key."""

    aks_documented: bool | None
    aks_observed: bool | None
    schedulable: bool | None
    written: bool | None
    bold: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a policy for one key and column, and its reason."""

    answer: Answer
    why: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A row of the list of differences: what the document says and what holds in releases."""

    id: str
    keys: tuple[str, ...]
    document: str
    today: str
    evidence: str


@cache
def _claims() -> Mapping[str, Any]:
    table: Mapping[str, Any] = _read("seed_claims.json")
    return table


def claimed_keys() -> Sequence[str]:
    """The keys of both tables, in their order."""
    return [*_claims()["aks"], *_claims()["karpenter"]]


def claim_of(key: str) -> Claim | None:
    """The row of a key, None when the documents' tables do not have it."""
    table = _claims()
    cells = table["aks"].get(key) or table["karpenter"].get(key)
    if cells is None:
        return None
    documented, observed, schedulable, written = ({"+": True, "-": False, ".": None}[cell] for cell in cells)
    return Claim(documented, observed, schedulable, written, key in table["bold"])


@cache
def differences() -> tuple[Difference, ...]:
    """All rows."""
    return tuple(
        Difference(row["id"], tuple(row["keys"]), row["document"], row["today"], row["evidence"])
        for row in _read("differences.json")["rows"]
    )


def differences_of(key: str) -> tuple[Difference, ...]:
    """The rows that are about a key."""
    return tuple(row for row in differences() if key in row.keys)


def decisions(policy: Policy, key: str) -> tuple[Decision, Decision, Decision]:
    """May a pod ask for the key, may a NodePool set it, is it written: as the document decides."""
    claim = claim_of(key)
    written = claim.written if claim is not None else None
    stays = Decision(_answer(written), "the table's column; nothing changes before the machine API (decision 3)")
    yes, no, undecided = Answer.YES, Answer.NO, Answer.UNDECIDED
    if key in policy.well_known:
        now = Decision(yes, "becomes well-known and a requirement now")
        return now, now, Decision(yes, "written because it can be scheduled on (decision 3)")
    if key in policy.perhaps_well_known:
        perhaps = Decision(undecided, "becomes well-known, unless that turns out to be hard")
        return perhaps, perhaps, perhaps
    if not key.startswith(f"{AKS_DOMAIN}/"):
        if claim is not None and claim.schedulable:
            open_ = Decision(yes, "schedulable already; no change")
            return open_, open_, Decision(_answer(written), "the table's column; no change")
        silent = Decision(undecided, "the document decides nothing about it")
        if claim is None:
            return silent, silent, silent
        return Decision(no, "not among the keys to schedule on"), silent, stays
    if key in policy.schedulable:
        open_ = Decision(yes, "schedulable already; no change")
        return open_, open_, stays
    if key == AKS_CLUSTER:
        blocked = Decision(no, "the example of a key to block: it makes no sense to schedule on (decision 1, option A)")
        return blocked, blocked, stays
    pod = Decision(no, "neither well-known nor allowed")
    if key in policy.later:
        pod = Decision(undecided, "may become well-known in the future")
    if key in policy.allowed:
        return pod, Decision(yes, "allowed although it is not well-known"), stays
    return pod, Decision(no, f"all of {AKS_DOMAIN} is closed but for what is well-known or allowed"), stays


def _answer(cell: bool | None) -> Answer:
    return Answer.UNDECIDED if cell is None else Answer.YES if cell else Answer.NO


def _read(name: str) -> Any:
    return json.loads(files("harness.explain.labels").joinpath("data", name).read_text(encoding="utf-8"))
