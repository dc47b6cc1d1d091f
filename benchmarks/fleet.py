"""Fleets as users have them: spread, affinity, taints, budgets, DaemonSets; how long the loop takes over them, in CPU seconds.

    python -m benchmarks.fleet [--pods N] [--only NAME] [--go-limit SECONDS] [--json FILE]

Fleets are those of ``tools.fleet`` with 300, 1,000 and 5,000 pods (``--pods``: another number alone). Of each: until it rests after all
its manifests have been applied (``rest``); one pass of each method over its nodes (``Emptiness`` and so on), beside Go's pass over the
same state where there is an oracle (as in ``benchmarks.scheduler``); a week in which each day a third of the Deployments is rolled out
anew, Azure takes a spot machine in ten, and in the middle of which a NodePool's template changes (``week``; not of 5,000 pods unless
``--only`` names it). ``dump`` is a cluster of 40 Nodes and 275 pods, which ``harness simulate --until 72h`` takes over. ``--only``
names a case (``fleet-300``) or one part of it (``fleet-300/week``). Each case has a process of its own. ``digest`` is equal where
everything that happened is: events, decisions, log lines and writes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.disruption import go_passes, our_pass
from benchmarks.scheduler import GO_LIMIT, OracleError, oracle_path
from harness import garbage
from harness.karpenter.disruption.situation import Situation
from harness.world import World
from tests.conformance.turns import Catalogs, request_of
from tools.fleet import fleet

__all__ = ["Part", "parts_of", "report"]

ROOT = Path(__file__).resolve().parent.parent
DUMP = Path(__file__).parent / "data" / "cluster-dump.yaml.gz"
SIZES = (300, 1000, 5000)
METHODS = ("Emptiness", "Drift", "MultiNodeConsolidation", "SingleNodeConsolidation")
_HOUR = 3600.0
_SHORT = 1000
"""Fleets of more pods have their week only where somebody asks for it."""
_PASSES = 3
"""Passes of a method on each side, the fastest of which counts."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a case: our CPU seconds and Go's, None where it was not asked; ``digest`` and ``facts`` say what came of it."""

    case: str
    part: str
    seconds: float
    go: float | None = None
    digest: str = ""
    facts: str = ""

    @property
    def ratio(self) -> float | None:
        """Return how many times as long Go takes; None without Go."""
        return None if self.go is None else self.go / max(self.seconds, 1e-6)


def parts_of(case: str, only: str, oracle: str | None, go_limit: float) -> Iterator[Part]:
    """Yield the parts of one case, in this process; ``only``: this one alone, with what has to come before it."""
    if case == "dump":
        yield _dump()
        return
    pods = int(case.removeprefix("fleet-"))
    world = World()
    manifests = fleet(pods, 0)
    seconds = _timed(lambda: _settled(world, manifests))
    yield Part(case, "rest", seconds, digest=_digest(world), facts=f"{len(world.list('Node'))} nodes")
    situation = _aged(world)
    if not only or only in METHODS:
        yield from _passes(case, situation, [only] if only else METHODS, oracle, go_limit)
    if only == "week" or (not only and pods <= _SHORT):
        seconds = _timed(lambda: _week(world, manifests))
        yield Part(case, "week", seconds, digest=_digest(world), facts=f"{len(world.disruptions)} decisions")


def _timed(work: Callable[[], object]) -> float:
    begun = process_time()
    work()
    return process_time() - begun


def _settled(world: World, manifests: Sequence[Mapping[str, Any]]) -> None:
    world.apply(*manifests)
    world.settle()


def _aged(world: World) -> Situation:
    """Return the fleet once consolidateAfter has passed, before anything is disrupted."""
    world.karpenter.hold()
    world.advance(_HOUR / 4)
    situation = Situation(world.karpenter.disruption_view())
    world.karpenter.release()
    return situation


def _week(world: World, manifests: Sequence[Mapping[str, Any]]) -> None:
    deployments = [manifest for manifest in manifests if manifest["kind"] == "Deployment"]
    pools = [manifest for manifest in manifests if manifest["kind"] == "NodePool"]
    pool = next(pool for pool in pools if pool["metadata"]["name"] == "general")
    for day in range(7):
        for deployment in deployments[day % 3 :: 3]:
            world.apply(_rolled(deployment, day))
        if day == 3:
            template = {**pool["spec"]["template"], "metadata": {"labels": {"turn": "1"}}}
            world.apply({**pool, "spec": {**pool["spec"], "template": template}})
        world.advance(4 * _HOUR)
        spot = [
            node["metadata"]["name"]
            for node in world.cluster.view.list("Node")
            if node["metadata"]["labels"].get("karpenter.sh/capacity-type") == "spot"
        ]
        for name in spot[::10]:
            world.evict(name)
        world.advance(20 * _HOUR)


def _rolled(deployment: Mapping[str, Any], day: int) -> dict[str, Any]:
    template = deployment["spec"]["template"]
    annotations = {"kubectl.kubernetes.io/restartedAt": f"2026-01-{day + 1:02}T00:00:00Z"}
    metadata = {**template["metadata"], "annotations": annotations}
    return {**deployment, "spec": {**deployment["spec"], "template": {**template, "metadata": metadata}}}


def _passes(
    case: str, situation: Situation, methods: Iterable[str], oracle: str | None, go_limit: float
) -> Iterator[Part]:
    """Yield passes of each method, by both sides from nothing and as often: the fastest counts."""
    catalogs = Catalogs()
    request = request_of(situation, catalogs)
    request["options"]["skipValidation"] = True
    request = _with_types(request, catalogs)
    for method in methods:
        seconds, outcome = min((sum(made[:2]), made[2]) for made in (our_pass(request, method) for _ in range(_PASSES)))
        theirs, same = None, ""
        if oracle is not None:
            try:
                go = go_passes(request, oracle, [method] * _PASSES, go_limit * _PASSES)[method]
                theirs = go.candidates + go.compute
                same = "" if go.outcome == outcome else f", and Go {go.outcome}"
            except subprocess.TimeoutExpired:
                same = f", Go takes more than {go_limit * _PASSES:.0f} s for {_PASSES} passes"
        yield Part(case, method, seconds, theirs, facts=f"{outcome}{same}")


def _with_types(request: dict[str, Any], catalogs: Catalogs) -> dict[str, Any]:
    """Return the request with the instance types in it, each NodePool's once; its requirements leave each the sizes that it may have."""
    types: dict[str, Any] = {}
    for catalog in catalogs.taken():
        types.update((size["name"], size) for size in catalog["instance_types"])
    made = {key: value for key, value in request.items() if key != "catalog_by_nodepool"}
    return {**made, "instance_types": [types[name] for name in sorted(types)]}


def _dump() -> Part:
    from harness.cli.commands import simulate

    parser = argparse.ArgumentParser()
    simulate.add_arguments(parser)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.yaml"
        path.write_bytes(gzip.decompress(DUMP.read_bytes()))
        begun = process_time()
        done = simulate._simulated(parser.parse_args([str(path), "--until", "72h"]), 72 * _HOUR)
        seconds = process_time() - begun
    facts = f"{len(done.world.disruptions)} decisions"
    return Part("dump", "72h", seconds, digest=_digest(done.world), facts=facts)


def _digest(world: World) -> str:
    """Return a text that is equal where the same happened."""
    digest = hashlib.sha256()
    for happening in (*world.events, *world.disruptions):
        digest.update(repr(happening).encode())
    for line in world.log:
        digest.update(repr((line.at, line.message, sorted(dict(line.values).items()))).encode())
    for entry in world.journal:
        digest.update(repr((entry.at, entry.verb, entry.key, entry.after)).encode())
    return digest.hexdigest()[:12]


def report(cases: Sequence[str], only: str, oracle: str | None, go_limit: float) -> Iterator[Part]:
    """Yield the parts of all cases as they come, each case in a process of its own. Raises OracleError."""
    for case in cases:
        command = [sys.executable, "-m", "benchmarks.fleet", "--measure", case, only, "--go-limit", str(go_limit)]
        command += ["--oracle", oracle] if oracle else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield Part(**json.loads(line))
        if process.returncode:
            raise OracleError(f"{case}: ended with {process.returncode}")


def _line(part: Part) -> str:
    go = f"{part.go:10.3f}{part.ratio:8.1f}" if part.go is not None else f"{'':18}"
    return f"{part.case:12}{part.part:26}{part.seconds:10.3f}{go}  {part.digest:13} {part.facts}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, metavar="N", help="a fleet of so many pods alone")
    parser.add_argument("--only", default="", metavar="NAME", help="a case, or CASE/PART")
    parser.add_argument("--oracle", metavar="PATH")
    parser.add_argument(
        "--go-limit", type=float, default=GO_LIMIT, metavar="SECONDS", help="for a pass, default %(default)s"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument(
        "--measure", nargs=2, metavar=("CASE", "PART"), help="one case in this process, a JSON line for each part"
    )
    options = parser.parse_args(argv)
    if options.measure:
        with garbage.NothingToFind():
            case, only = options.measure
            for part in parts_of(case, only, options.oracle, options.go_limit):
                print(json.dumps(asdict(part)), flush=True)
        garbage.keep()
        return 0
    case, _, only = options.only.partition("/")
    cases = [f"fleet-{options.pods}"] if options.pods else ["dump", *(f"fleet-{size}" for size in SIZES)]
    parts: list[Part] = []
    print(f"{'case':12}{'part':26}{'CPU s':>10}{'Go':>10}{'ratio':>8}  {'digest':13} what came of it")
    try:
        for part in report([case] if case else cases, only, oracle_path(options.oracle), options.go_limit):
            parts.append(part)
            print(_line(part), flush=True)
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(part) for part in parts], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
