"""Believable clusters of any size: NodePools, teams and what they run, as manifests.

    python -m tools.fleet [--pods N] [--seed S] > fleet.yaml

The same pods and seed give the same manifests. Names come from Faker; what the workloads ask for is drawn from the table of profiles below,
so that a fleet has what makes scheduling interesting: equal pods by the dozen, zones to spread over, neighbours to avoid, taints to
tolerate, spot, arm64, GPUs and DaemonSets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import yaml
from faker import Faker

Manifest = dict[str, Any]

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ARCH, CAPACITY, GPUS = "kubernetes.io/arch", "karpenter.sh/capacity-type", "nvidia.com/gpu"
FAMILY = "karpenter.azure.com/sku-family"

WORKLOADS, CRUMBS = 12, 3
"""No workload has more than a twelfth of all pods, but for its least; and nobody runs one for the last few."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of workload: how often it comes (`share`), how many pods it has, and what one asks for (millicores, MiB per core).

    `zones` and `hosts` are what becomes of a topology spread constraint (empty: none), `apart` and `together` required
    anti-affinity on hosts and affinity in a zone, `selector` and `tolerates` where it runs, `gpus` how many each pod uses.
    """

    name: str
    share: int
    pods: tuple[int, int]
    millicores: Sequence[int]
    mib_per_core: Sequence[int]
    zones: str = ""
    hosts: str = ""
    apart: bool = False
    together: bool = False
    selector: Mapping[str, str] | None = None
    tolerates: str = ""
    gpus: int = 0


PROFILES: Sequence[Profile] = (
    Profile("web", 30, (3, 60), (100, 250, 500), (1024, 2048), zones="DoNotSchedule"),
    Profile("api", 25, (2, 40), (250, 500, 1000), (2048, 4096), zones="ScheduleAnyway", hosts="ScheduleAnyway"),
    Profile("worker", 20, (3, 80), (500, 1000, 2000), (2048, 4096), selector={CAPACITY: "spot"}, tolerates="batch"),
    Profile("cache", 8, (3, 9), (500, 1000), (8192,), apart=True),
    Profile("stream", 7, (2, 20), (1000, 2000, 4000), (4096,), together=True),
    Profile("edge", 6, (2, 20), (100, 250), (1024,), selector={ARCH: "arm64"}),
    Profile("model", 4, (1, 6), (4000, 8000), (4096, 8192), tolerates="gpu", gpus=1),
)
AGENTS: Sequence[tuple[str, int, int]] = (("log-agent", 100, 128), ("node-metrics", 50, 64))
"""DaemonSets: name, millicores, MiB."""


def fleet(pods: int, seed: int) -> list[Manifest]:
    """An AKSNodeClass, NodePools, DaemonSets and Deployments with so many pods in all, in the namespaces of their teams."""
    fake = Faker("en_US")
    fake.seed_instance(seed)
    teams = [fake.unique.domain_word() for _ in range(max(1, min(12, pods // 50)))]
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}} for team in teams]
    agents = [_agent(name, millicores, mib) for name, millicores, mib in AGENTS]
    return [*namespaces, *_nodepools(), *agents, *_workloads(fake, fake.random, teams, pods)]


def _nodepools() -> Iterator[Manifest]:
    yield {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "default"},
        "spec": {"imageFamily": "Ubuntu2204"},
    }
    yield _nodepool("general", {CAPACITY: ("on-demand",), FAMILY: ("D", "E", "F"), ARCH: ("amd64",)}, weight=10)
    yield _nodepool("arm", {CAPACITY: ("on-demand",), FAMILY: ("D", "E"), ARCH: ("arm64",)})
    yield _nodepool("batch", {CAPACITY: ("spot",), FAMILY: ("D", "E", "F"), ARCH: ("amd64",)}, taint="batch")
    yield _nodepool("gpu", {CAPACITY: ("on-demand",), FAMILY: ("N",), ARCH: ("amd64",)}, taint="gpu")


def _nodepool(name: str, allowed: Mapping[str, Sequence[str]], *, taint: str = "", weight: int = 0) -> Manifest:
    spec: Manifest = {
        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
        "requirements": [{"key": key, "operator": "In", "values": list(values)} for key, values in allowed.items()],
    }
    if taint:
        spec["taints"] = [{"key": "workload", "value": taint, "effect": "NoSchedule"}]
    disruption = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "5m"}
    pool: Manifest = {"template": {"spec": spec}, "disruption": disruption}
    if weight:
        pool["weight"] = weight
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": pool}


def _agent(name: str, millicores: int, mib: int) -> Manifest:
    template = _template({"app": name}, f"registry.example.com/platform/{name}:1", millicores, mib)
    template["spec"]["tolerations"] = [{"operator": "Exists"}]
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    metadata = {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}


def _workloads(fake: Faker, chance: Random, teams: Sequence[str], pods: int) -> Iterator[Manifest]:
    left, names = pods, set[tuple[str, str]]()
    while left:
        profile = chance.choices(PROFILES, [each.share for each in PROFILES])[0]
        team = chance.choice(teams)
        name = f"{fake.word(part_of_speech='noun').lower()}-{profile.name}"
        if (team, name) in names:
            continue
        names.add((team, name))
        least, most = profile.pods
        replicas = min(left, chance.randint(least, max(least, min(most, pods // WORKLOADS))))
        if left - replicas < CRUMBS:
            replicas = left
        left -= replicas
        version = fake.numerify("%.##.#")
        yield _workload(profile, team, name, version, replicas, chance)


def _workload(profile: Profile, team: str, name: str, version: str, replicas: int, chance: Random) -> Manifest:
    own = {"app": name}
    millicores = chance.choice(profile.millicores)
    mib = millicores * chance.choice(profile.mib_per_core) // 1000
    labels = {**own, "team": team, "app.kubernetes.io/version": version}
    template = _template(labels, f"registry.example.com/{team}/{name}:{version}", millicores, mib)
    pod, container = template["spec"], template["spec"]["containers"][0]
    spread = [(ZONE, profile.zones), (HOST, profile.hosts)]
    constraints = [
        {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": then, "labelSelector": {"matchLabels": own}}
        for key, then in spread
        if then
    ]
    if constraints:
        pod["topologySpreadConstraints"] = constraints
    for kind, key, wanted in (("podAntiAffinity", HOST, profile.apart), ("podAffinity", ZONE, profile.together)):
        if wanted:
            term = {"topologyKey": key, "labelSelector": {"matchLabels": own}}
            pod["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if profile.selector:
        pod["nodeSelector"] = dict(profile.selector)
    if profile.tolerates:
        taint = {"key": "workload", "operator": "Equal", "value": profile.tolerates, "effect": "NoSchedule"}
        pod["tolerations"] = [taint]
    if profile.gpus:
        container["resources"]["limits"] = {GPUS: profile.gpus}
        container["resources"]["requests"][GPUS] = profile.gpus
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": team, "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": own}, "template": template},
    }


def _template(labels: Mapping[str, str], image: str, millicores: int, mib: int) -> Manifest:
    requests: Manifest = {"cpu": f"{millicores}m", "memory": f"{mib}Mi"}
    container = {"name": "main", "image": image, "resources": {"requests": requests}}
    return {"metadata": {"labels": dict(labels)}, "spec": {"containers": [container]}}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a fleet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=200, metavar="N", help="pods of all Deployments (default 200)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, another fleet (default 0)")
    options = parser.parse_args(argv)
    if options.pods < 0:
        parser.error("--pods: a number from 0 is expected")
    yaml.dump_all(fleet(options.pods, options.seed), sys.stdout, sort_keys=False, Dumper=_Plain)
    return 0


class _Plain(yaml.SafeDumper):
    """YAML as Kubernetes reads it: without anchors, and with quotes around what it would take for true or false."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if text in ("y", "Y", "n", "N") else None)


_Plain.add_representer(str, _text)


if __name__ == "__main__":
    sys.exit(main())
