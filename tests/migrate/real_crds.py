"""Proposals before a real API server with the CRDs of each release: `python -m tests.migrate.real_crds --cases 500 --seed 1`.

It needs `KUBEBUILDER_ASSETS`; nothing is stored, for the requests are dry runs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from harness import World
from harness.clusters.apiserver.cluster import ApiServerCluster
from harness.clusters.remote.attaching import attach
from harness.migrate.proposing.proposal import Plan, proposed
from tests.migrate.fleets import agent_pools
from tests.migrate.pools import cluster, generated_pool, read
from tests.migrate.properties import RELEASES

KUBERNETES = "1.36.3"


def described_clusters(seeds: range) -> Iterator[Any]:
    """Yield the clusters of the generated moves, and as many whose pools have some of every field."""
    for seed in seeds:
        yield agent_pools(seed)
        chance = random.Random(f"fields {seed}")
        yield cluster(*(generated_pool(chance, f"pool{number}") for number in range(chance.randint(1, 3))))


def manifests(release: str, seeds: range) -> Mapping[str, Any]:
    """Return the objects that are proposed for generated clusters under a release, each once."""
    world = World(karpenter=release, region="westeurope")
    proposals = (proposed(world, read(described), Plan()) for described in described_clusters(seeds))
    return {json.dumps(manifest, sort_keys=True): manifest for proposal in proposals for manifest in proposal.manifests}


def main() -> int:
    """Ask the API server; exit code 1 where it refuses anything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.cases)
    refused = 0
    with ApiServerCluster() as server:
        for release in RELEASES:
            world = World(karpenter=release, region="westeurope", kubernetes=KUBERNETES, cluster=attach(server))
            objects = manifests(release, seeds)
            refusals = [rejection for manifest in objects.values() for rejection in world.dry_run(manifest)]
            refused += len(refusals)
            for rejection in refusals:
                sys.stdout.write(f"{release}: {rejection.object}: {rejection.text}\n")
            sys.stdout.write(
                f"{release}: {len(objects)} objects of {2 * len(seeds)} clusters, {len(refusals)} refused\n"
            )
            sys.stdout.flush()
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main())
