"""The cells of the design documents' decisions: yes, no or undecided for each key that one of them speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.karpenter.labels.azure import AKS_DOMAIN
from harness.karpenter.releases import DEFAULT_BASE, POLICIES, Policy, provider
from harness.karpenter.releases.policies import overlaid
from tests.corpus.mutations.cells import Cell
from tests.corpus.mutations.crd_cells import crds_with_open_keys

__all__ = ["DECISIONS", "policy_cells"]

DECISIONS = ("well_known", "perhaps_well_known", "later", "allowed", "schedulable")


def policy_cells(name: str, base: str = DEFAULT_BASE) -> Iterator[Cell]:
    """Each decision of the document about each of the keys, changed, on a base release."""
    policy = POLICIES[name]
    release = provider(f"{name}@{base}")
    spoken = sorted({key for each in POLICIES.values() for table in DECISIONS for key in getattr(each, table)})
    for table in DECISIONS:
        mine: frozenset[str] = getattr(policy, table)
        for key in spoken:
            if _said_already(policy, table, key):
                continue
            changed = replace(policy, **{table: mine ^ {key}})
            yield Cell(
                release.version,
                f"decision {table.replace('_', '-')}",
                key,
                "is missing" if key in mine else "is there",
                overlaid(changed, provider(base)),
                crds_with_open_keys(release.version, AKS_DOMAIN, changed.open_keys),
                policy=changed,
            )


def _said_already(policy: Policy, table: str, key: str) -> bool:
    """Whether another of the document's lists says at least as much about the key, so that one more would change nothing."""
    weaker: tuple[str, ...] = DECISIONS[1:] if key in policy.well_known else ()
    if key in policy.perhaps_well_known:
        weaker = (*weaker, "later")
    if key in policy.schedulable:
        weaker = (*weaker, "well_known", "later", "allowed")
    return key not in getattr(policy, table) and table in weaker
