"""The differential run: the same questions to the real Go code and to ours, side by side, and what differs."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.karpenter.releases import release_order
from tests.conformance.build import Oracle, has_extension
from tests.conformance.cases import ANSWERED, SHARES, draw_cases
from tests.conformance.causes import signature
from tests.conformance.compare import Difference, reply_differences
from tests.conformance.deliberate import reason_for
from tests.conformance.material import Material, write_gzip
from tests.conformance.processes import Answerer, Asked, Reply
from tests.conformance.shrink import shrink

__all__ = [
    "ON_CRD_FILES",
    "Mismatch",
    "OpResult",
    "Pair",
    "asked_of",
    "compared",
    "our_command",
    "spread",
    "with_variants",
    "without_variants",
]

Json = dict[str, Any]

BATCH = 400  # requests under way at a time

#: the op that CRD files and a CEL engine answer too, and what that is called
ON_CRD_FILES = ("validate_nodepool", "on CRD files")
#: ops that only some oracles have, by the part of the oracle
EXTENDED = {
    "disrupt": "disruption",
    "lifetimes": "disruption",
    "azure_drift": "disruption",
    "static": "static",
    "launch": "overlays",
}

#: ops whose questions name catalogs
WITH_CATALOGS = ("schedule", "disrupt", "lifetimes", "static")
VARIANTS = {"requirements": 64, "validate_nodepool": 64, "schedule": 12}


def asked_of(release: str, ops: Sequence[str]) -> list[str]:
    """Those of `ops` that the oracle of `release` answers."""
    # before 1.10.2 `azure_drift` needs network interfaces, which the question does not have
    before_machines = release_order(release) < release_order("1.10")
    return [
        op
        for op in ops
        if (op not in EXTENDED or has_extension(release, EXTENDED[op]))
        and not (op == "azure_drift" and before_machines)
    ]


def spread(cases: int, releases: Sequence[str], ops: Sequence[str] = ANSWERED) -> dict[tuple[str, str], int]:
    """`cases` over releases × ops, evenly over the releases and by SHARES over the ops; the sum is exactly `cases`."""
    weight: dict[tuple[str, str], float] = {}
    for release in releases:
        asked = asked_of(release, ops)
        weight.update({(release, op): SHARES[op] / sum(SHARES[each] for each in asked) for op in asked})
    total = sum(weight.values())
    exact = {key: cases * share / total for key, share in weight.items()}
    parts = {key: int(value) for key, value in exact.items()}
    for key in sorted(exact, key=lambda key: parts[key] - exact[key])[: cases - sum(parts.values())]:
        parts[key] += 1
    return parts


def without_variants(request: Json) -> Json:
    """The request that asks for one answer only, as both sides can give it in the same time."""
    return {**request, "variants": 0} if request["op"] in ("requirements", "validate_nodepool") else request


def with_variants(request: Json) -> Json:
    """The request that also asks for what Go's map order could have made of it."""
    count = VARIANTS.get(request["op"])
    if count is None:
        return request
    if request["op"] == "schedule":
        return {**request, "options": {**request.get("options", {}), "variants": count}}
    return {**request, "variants": count}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One case that the two sides answer differently."""

    release: str
    number: int
    request: Json
    want: Reply
    got: Reply
    found: tuple[Difference, ...]

    @property
    def op(self) -> str:
        """The op that was asked."""
        return str(self.request["op"])

    @property
    def cause(self) -> str:
        """The signature of the first difference."""
        return signature(self.found[0])

    def vector(self) -> Json:
        """The case with the oracle's answer, as a line of a vector file."""
        request = {key: value for key, value in self.request.items() if key != "op"}
        return {"release": self.release, "op": self.op, "input": request, **self.want}


@dataclass(slots=True)
class OpResult:
    """What came of one op of one release; `kinds` counts (identical, total) by the kind of object asked about.

    `title` is what the answers are called where it is not the op's name.
    """

    release: str
    op: str
    title: str = ""
    identical: int = 0
    total: int = 0
    oracle_seconds: float = 0.0
    our_seconds: float = 0.0
    kinds: dict[str, list[int]] = field(default_factory=dict)
    explained: Counter[str] = field(default_factory=Counter)
    mismatches: list[Mismatch] = field(default_factory=list)

    def causes(self) -> list[tuple[str, list[Mismatch]]]:
        """Mismatches by cause, the most frequent first."""
        groups: dict[str, list[Mismatch]] = {}
        for mismatch in self.mismatches:
            groups.setdefault(mismatch.cause, []).append(mismatch)
        return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def our_command(release: str, data: Path) -> list[str]:
    """The command that answers with this project's code."""
    return [sys.executable, "-m", "harness", "dev", "answer", "--release", release, "--data", str(data)]


class Pair:
    """The oracle of one release and our answerer for it, asked at the same time."""

    def __init__(self, oracle: Oracle, command: Sequence[str] | None = None, material: Material | None = None) -> None:
        self._program = oracle
        self.material = material or Material.of(oracle.path)
        self.release = oracle.release
        self._folder = tempfile.TemporaryDirectory(prefix="conformance-")
        data = Path(self._folder.name) / "data.json.gz"
        write_gzip(data, json.dumps(self.material.data))
        self.oracle = Answerer([str(oracle.path)])
        self.ours = Answerer(command or our_command(oracle.release, data))
        self._pool = ThreadPoolExecutor(max_workers=2)
        self._catalogs_sent = False
        self.ask([{"op": "info"}])  # both are up before anything is timed

    def on_crd_files(self) -> Pair:
        """The same oracle beside our answers by the release's own CRD files, their rules in a real CEL engine."""
        folder = Path(self._folder.name) / "crds"
        folder.mkdir(exist_ok=True)
        for definition in self.material.crds:
            (folder / f"{definition['metadata']['name']}.yaml").write_text(json.dumps(definition))
        return Pair(self._program, [*self.ours.command, "--crds", str(folder)], self.material)

    def send_catalogs(self) -> None:
        """Registers the catalogs that cases name, on both sides."""
        if not self._catalogs_sent:
            self._catalogs_sent = True
            self.register(self.material.catalog_requests())

    def register(self, requests: Sequence[Json]) -> None:
        """Registers catalogs on both sides."""
        self.oracle.prepare(requests)
        self.ours.setup.extend(requests)
        self.ours.ask(requests)  # where the op is missing, each case will say so

    def ask(self, requests: Sequence[Json]) -> tuple[Asked, Asked]:
        """The oracle's and our replies."""
        theirs = self._pool.submit(self.oracle.ask, requests)
        ours = self._pool.submit(self.ours.ask, requests)
        return theirs.result(), ours.result()

    def mismatches(self, requests: Sequence[Json], numbers: Sequence[int] = ()) -> tuple[list[Mismatch], float, float]:
        """The requests that are answered differently, and the seconds that the oracle and we took.

        Asked for one answer each; only where the two differ the oracle is asked for its variants.
        """
        theirs, ours = self.ask([without_variants(request) for request in requests])
        suspects = []
        for number, (request, want, got) in enumerate(zip(requests, theirs.replies, ours.replies, strict=True)):
            if reply_differences(request["op"], want, got):
                suspects.append((number, request, got))
        again = self.oracle.ask([with_variants(request) for _, request, _ in suspects]).replies
        found = []
        for (number, request, got), want in zip(suspects, again, strict=True):
            differences = reply_differences(request["op"], want, got)
            if differences:
                number = numbers[number] if numbers else number
                found.append(Mismatch(self.release, number, request, want, got, tuple(differences)))
        return found, theirs.seconds, ours.seconds

    def shrunk(self, mismatch: Mismatch, seconds: float) -> Mismatch:
        """The mismatch in the smallest request that still shows its cause."""

        def failing(request: Json) -> bool:
            return any(one.cause == mismatch.cause for one in self.mismatches([request])[0])

        smallest = shrink(mismatch.request, failing, seconds=seconds)
        return next((one for one in self.mismatches([smallest])[0]), mismatch)

    def close(self) -> None:
        """Ends both processes."""
        self._pool.shutdown()
        self.oracle.close()
        self.ours.close()
        self._folder.cleanup()

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def compared(pair: Pair, op: str, count: int, seed: int, title: str = "") -> OpResult:
    """Asks `count` cases of `op` on both sides."""
    result = OpResult(pair.release, op, title)
    if op in WITH_CATALOGS:
        pair.send_catalogs()
    requests = draw_cases(op, count, seed, pair.material)
    pair.ask([without_variants(request) for request in requests[:1]])  # what an op loads when first asked is not timed
    for first, batch in _batches(requests):
        found, oracle_seconds, our_seconds = pair.mismatches(batch, range(first, first + len(batch)))
        result.oracle_seconds += oracle_seconds
        result.our_seconds += our_seconds
        different = set()
        for mismatch in found:
            reason = reason_for(pair.release, op, mismatch.found)
            if reason is None:
                result.mismatches.append(mismatch)
                different.add(mismatch.number)
            else:
                result.explained[reason] += 1
        for number, request in enumerate(batch, first):
            _count(result, request, number not in different)
    return result


def _count(result: OpResult, request: Mapping[str, Any], identical: bool) -> None:
    result.identical += identical
    result.total += 1
    if result.op == "validate_nodepool":
        counts = result.kinds.setdefault(request["object"]["kind"], [0, 0])
        counts[0] += identical
        counts[1] += 1


def _batches(requests: Sequence[Json]) -> Iterator[tuple[int, Sequence[Json]]]:
    for first in range(0, len(requests), BATCH):
        yield first, requests[first : first + BATCH]
