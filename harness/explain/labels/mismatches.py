"""Differences of a release from the cells of the design documents' tables: one definition of their columns, for pages
and for stories.

*Schedulable*: Karpenter understands a pod that asks for the key although no NodePool sets it. *Written*: Karpenter puts the label on the
Node, by what its provider tells the kubelet or itself at registration (the two ways of the document's FAQ). What kubelets and the
cloud-node-manager write by themselves is on the Node, too, and does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.explain.labels.comparison import Cell
from harness.explain.labels.design_documents import Answer, claim_of

__all__ = ["Lacking", "Mismatch", "lacking", "mismatches"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A cell of the tables that does not hold: what they say, what was found, and by what trial."""

    key: str
    column: str
    said: Answer
    found: str
    why: str


@dataclass(frozen=True, slots=True)
class Lacking:
    """A label that the tables see on AKS's Nodes and that the plain Node of a machine has not, and which Nodes have it, if any."""

    key: str
    documented: bool | None
    observed: bool | None
    why: str


def mismatches(key: str, pod: Cell, written: Cell) -> Iterator[Mismatch]:
    """The cells of a key about Karpenter that a release's trials contradict; nothing for a key that the tables lack."""
    claim = claim_of(key)
    if claim is None:
        return
    if claim.schedulable is not None and claim.schedulable is not (pod.answer is Answer.YES):
        yield Mismatch(key, "schedulable", _answer(claim.schedulable), str(pod), pod.why)
    if claim.written is not None and claim.written is not written.by_karpenter:
        cell = str(written) if written.by_karpenter == (written.answer is Answer.YES) else f"no, by {written.detail}"
        yield Mismatch(key, "written", _answer(claim.written), cell, written.why)


def lacking(cells: Mapping[str, Cell], reasons: Mapping[str, str]) -> Iterator[Lacking]:
    """The ticks of the columns about AKS that a machine's Node does not bear out; `cells` by key, of the column `written`.

    `reasons` has, by key, which Nodes of AKS have the label. Raises LookupError where it lacks one.
    """
    for key, cell in cells.items():
        claim = claim_of(key)
        if claim is None or not (claim.aks_documented or claim.aks_observed):
            continue
        if cell.answer is Answer.NO or cell.elsewhere:
            yield Lacking(key, claim.aks_documented, claim.aks_observed, reasons[key])


def _answer(holds: bool) -> Answer:
    return Answer.YES if holds else Answer.NO
