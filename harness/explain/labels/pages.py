"""The documentation's pages about label keys, computed: a table for a release, the evolution over releases, documents and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.explain.labels.comparison import Cell, TriedSide, fingerprint, keys_of
from harness.explain.labels.design_documents import claim_of, claimed_keys, decisions, differences, differences_of
from harness.explain.labels.mismatches import lacking, mismatches
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, POLICIES, Policy, ProvisionMode, provider
from harness.karpenter.releases.policies import NOT_SIMULATED
from harness.kube.api.objects import labels_of
from harness.world import World

__all__ = [
    "CHECKED",
    "Column",
    "agent_pool_labels",
    "all_keys",
    "claims_page",
    "column_of",
    "differences_page",
    "evolution_page",
    "machine_cells",
    "policies_page",
    "table_page",
    "turning_points",
]

CHECKED = ("1.6.5", "1.14.0")
"""The releases that the documents' claims are checked against."""

Column = Mapping[str, tuple[Cell, Cell, Cell]]
"""The cells of one release by key."""

_NOTE = "<!-- Written by `harness labels pages`; do not edit. -->"


def column_of(release: str, keys: Sequence[str], new_world: Callable[..., World]) -> Column:
    """The cells of a release for keys. Raises LookupError."""
    side = TriedSide(lambda **more: new_world(karpenter=release, **more))
    return {key: side.cells(key, None) for key in keys}


def machine_cells(release: str, new_world: Callable[..., World]) -> Mapping[str, Cell]:
    """Return the labels of an AKS machine's Node, by key of the documents' tables. Raises LookupError."""
    mode = str(ProvisionMode.AKS_MACHINE_API)
    side = TriedSide(lambda **more: new_world(karpenter=release, provision_mode=mode, **more))
    return {key: side.written(key) for key in claimed_keys()}


def all_keys() -> tuple[str, ...]:
    """The keys of the pages."""
    return keys_of([provider(name) for name in ALL_PROVIDER_RELEASES])


def turning_points() -> tuple[str, ...]:
    """Releases that differ from the one before in anything that a release's record or its CRDs' rules hold."""
    names: list[str] = []
    before: object = None
    for name in ALL_PROVIDER_RELEASES:
        inputs = fingerprint(provider(name))
        if inputs != before:
            names.append(name)
        before = inputs
    return tuple(names)


_AGENT_POOLS: Mapping[str, Mapping[str, Any]] = {
    "": {"vmSize": "Standard_D2s_v5", "availabilityZones": ["1"]},
    "spot pools": {"vmSize": "Standard_D2s_v5", "scaleSetPriority": "Spot"},
    "pools with FIPS": {"vmSize": "Standard_D2s_v5", "enableFIPS": True},
    "pools of GPUs": {"vmSize": "Standard_NC4as_T4_v3"},
}
"""Kinds of agent pools whose Nodes are looked at, the usual one first."""


def agent_pool_labels(new_world: Callable[..., World]) -> Mapping[str, str]:
    """Return what is on the Node of an agent pool, by key: its value, and on which pools where not all have it."""
    labels: dict[str, str] = {}
    for kind, properties in _AGENT_POOLS.items():
        world = new_world()
        world.add_agent_pool("apps", {**properties, "count": 1})
        for key, value in labels_of(world.list("Node")[0]).items():
            labels.setdefault(key, f"on {kind} ({value})" if kind else f"yes ({value})")
    return labels


def table_page(release: str, column: Column, agent_pools: Mapping[str, str]) -> str:
    """Return the page of one release; `agent_pools` as `agent_pool_labels` has them."""
    rows = [
        (f"`{key}`", str(pod), _pool(pool), str(written), agent_pools.get(key, "no"))
        for key, (pod, pool, written) in column.items()
    ]
    return _page(
        f"Label keys of {release}",
        "Each cell was found out by trying: a pod that asks for the key (with a value that fits, and with another one), a NodePool "
        "that sets it, and the Node of a pod that asks for nothing (of another size or AKSNodeClass where it says so). "
        "The last column is a Node of an agent pool, as AKS makes it, which the move to NodePools leaves.",
        ("key", "a pod may ask", "a NodePool may set it", "on the Node", "on a Node of an agent pool"),
        rows,
    )


def evolution_page(columns: Mapping[str, Column], kubernetes: str) -> str:
    """Return the page of changes of each key; `columns` by release, oldest first, all tried on this Kubernetes version."""
    names = list(columns)
    rows: list[tuple[str, ...]] = []
    for key in next(iter(columns.values())):
        behaviours = [tuple(_told(columns[name][key])) for name in names]
        for index in range(1, len(names)):
            old, new = behaviours[index - 1], behaviours[index]
            changes = [
                f"{title}: {before} → {two}"
                for title, before, two in zip(_TITLES, old, new, strict=True)
                if before != two
            ]
            if changes:
                rows.append((f"`{key}`", names[index], "; ".join(changes)))
    rows.sort(key=lambda row: (names.index(row[1]), row[0]))
    return _page(
        "What changed between releases",
        f"All keys over the releases from {ALL_PROVIDER_RELEASES[0]} to {ALL_PROVIDER_RELEASES[-1]}, found out by trying in each "
        f"on Kubernetes {kubernetes}. "
        f"Releases that are not named change nothing about label keys.",
        ("key", "since", "change"),
        rows,
    )


_TITLES = ("pod", "NodePool", "Node")


def _told(cells: tuple[Cell, Cell, Cell]) -> Iterator[str]:
    pod, pool, written = cells
    yield str(pod)
    yield _pool(pool)
    yield str(written)


def _pool(cell: Cell) -> str:
    return str(cell)


def policies_page() -> str:
    """The decisions of the documents, key by key."""
    policies = list(POLICIES.values())
    keys = dict.fromkeys(
        [*claimed_keys(), *(key for policy_row in policies for key in sorted(policy_row.open_keys | policy_row.later))]
    )
    rows = []
    for key in keys:
        cells = [_decided(policy, key) for policy in policies]
        rows.append((f"`{key}`", *cells, decisions(policies[-1], key)[1].why))
    parts = [
        _page(
            "Design documents as policies",
            "What the design document 'Requirements and Labels' decides for each key, as proposed and as completed: may a pod ask for "
            "it, may a NodePool set it, is it written to the Node. `given.policy` and `--release` lay the decisions over a release "
            "(1.6.5 unless told): `design-2025-11-07@1.14.0` is the document on 1.14.0.",
            ("key", *(f"{policy.date} ({policy.status})" for policy in policies), "why (NodePool, the later document)"),
            rows,
        )
    ]
    parts += [f"`{key}` is decided on, and not simulated: {why}.\n" for key, why in NOT_SIMULATED.items()]
    parts += [f"Left open on {policy.date}: {topic}.\n" for policy in policies for topic in policy.undecided_topics]
    return "\n".join(parts)


def _decided(policy: Policy, key: str) -> str:
    return ", ".join(str(decision.answer) for decision in decisions(policy, key))


def claims_page(columns: Mapping[str, Column], machine: Mapping[str, Cell], reasons: Mapping[str, str]) -> str:
    """The documents' tables against releases; `columns` by release.

    `machine` has, by key, what is on the Node of an AKS machine, and `reasons` which Nodes of AKS have a label that not all have.
    """
    rows: list[tuple[str, ...]] = []
    for key in claimed_keys():
        cited = ", ".join(f"[{row.id}](differences.md)" for row in differences_of(key))
        for name, column in columns.items():
            pod, _, written = column[key]
            for mismatch in mismatches(key, pod, written):
                rows.append(
                    (f"`{key}`", mismatch.column, str(mismatch.said), name, mismatch.found, _short(mismatch.why), cited)
                )
    claims = [claim for key in claimed_keys() if (claim := claim_of(key)) is not None]
    checked = len(columns) * sum(cell is not None for claim in claims for cell in (claim.schedulable, claim.written))
    gaps = list(lacking(machine, reasons))
    ticks = sum(bool(claim.aks_documented or claim.aks_observed) for claim in claims)
    parts = [
        _page(
            "Claims of the documents' tables",
            f"Both documents have the same cells. {checked} cells of their columns about Karpenter were checked by trying; the "
            f"{len(rows)} below do not hold. Schedulable: Karpenter understands a pod that asks for the key although no NodePool sets "
            "it. Written: Karpenter puts the label on the Node, by what it tells the kubelet or itself at registration; what kubelets "
            "and the cloud-node-manager write by themselves is on the Node, too, and does not count. The Node is that of the default "
            "AKSNodeClass and of one size, or another where only that has a value.",
            ("key", "column", "the documents", "release", "found", "by", "see"),
            rows,
        ),
        "## The columns about AKS\n",
        f"The documents see {ticks} of the keys on AKS's own Nodes, documented or observed. The Node of an AKS machine, whose labels AKS "
        f"writes itself, has {ticks - len(gaps)} of them ({CHECKED[-1]}, provision mode `aksmachineapi`, default AKSNodeClass). "
        f"The other {len(gaps)}, and which Nodes have them:\n",
        _row(("key", "documented", "observed", "which Nodes have it")),
        _row(["---"] * 4),
        *(_row((f"`{gap.key}`", _tick(gap.documented), _tick(gap.observed), gap.why)) for gap in gaps),
    ]
    return "\n".join(parts) + "\n"


def _tick(holds: bool | None) -> str:
    return "(empty)" if holds is None else "yes" if holds else "no"


def differences_page() -> str:
    """The list of differences."""
    rows = [
        (row.id, ", ".join(f"`{key}`" for key in row.keys) or "(no key)", row.document, row.today, row.evidence)
        for row in differences()
    ]
    return _page(
        "Where the documents and the releases part",
        "The design document 'Requirements and Labels' (2025-10-30, 2025-11-07) beside the releases up to 1.14.2. `kaz` is "
        "karpenter-provider-azure, `core` sigs.k8s.io/karpenter.",
        ("", "keys", "the documents", "the releases", "evidence"),
        rows,
    )


def _page(title: str, text: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_NOTE, "", f"# {title}", "", text, "", _row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:120]}…"
