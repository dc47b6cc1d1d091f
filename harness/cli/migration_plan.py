"""A migration from the files to the answer: what is proposed, what becomes of the workloads, and how the move goes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.cli.pool_files import Files
    from harness.migrate.judging.judgement import Judged
    from harness.migrate.proposing.proposal import Proposal
    from harness.migrate.walking.doubling import Doubling
    from harness.migrate.walking.walk import Walk
    from harness.migrate.walking.ways import Way
    from harness.reading.problems import Problem
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["MigrationPlan", "check_options", "planned"]


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """Answer of `harness migrate`. `story` is the scenario of the move, empty without workloads."""

    files_read: Files
    inputs: Inputs
    world: World
    proposal: Proposal
    judged: Sequence[Judged]
    walk: Walk | None
    story: str
    doubling: Doubling | None = None
    """The second way without its taints, where that was asked for and an agent pool is scaled."""
    problem: str = ""
    """Reason for which the move could not be walked."""

    @property
    def files(self) -> Mapping[str, str]:
        """Return name and text of each file of the output folder."""
        from harness.migrate.folder import files_of

        doubled = self.doubling.story if self.doubling is not None else ""
        return files_of(self.proposal, self.world.release.version, self.judged, self.story, doubled)

    def lines(self) -> Iterator[str]:
        """Yield the answer in words, the most important first."""
        from harness.migrate.folder import patch_command
        from harness.migrate.summary import headline, proposal_lines, workload_lines

        yield from self.inputs.head(self.world)
        if self.judged:
            yield from headline(self.judged, self.walk, self.proposal)
            if self.doubling is not None:
                yield self.doubling.text
            yield from workload_lines(self.judged, self.walk)
            yield from (f"  {command}" for verdict in self.judged if (command := patch_command(verdict)))
        if self.problem:
            yield f"the move could not be simulated: {self.problem}"
        yield from self.files_read.dump.notes()
        yield from proposal_lines(self.proposal)

    def value(self) -> dict[str, Any]:
        """Return the answer for JSON."""
        from harness.migrate.summary import proposal_value, walk_value

        return {
            "read": self.inputs.value(),
            "region": self.world.region,
            "release": self.world.release.version,
            **proposal_value(self.proposal),
            **(walk_value(self.judged, self.walk) if self.judged else {}),
            **({"withoutTaints": self.doubling.to_json()} if self.doubling is not None else {}),
            **({"problem": self.problem} if self.problem else {}),
        }


def check_options(arguments: argparse.Namespace, files: Files | None) -> None:
    """Check release, region and all other options of a world, also without the files (None) that have mistakes. Raises InputError."""
    from harness.cli.manifests import world_of
    from harness.cli.pool_files import Files
    from harness.migrate.agent_pools import ManagedCluster
    from harness.scenario.language.dumps import Dump

    read = files or Files(ManagedCluster(()), Dump(()), from_nodes=False)
    world_of(arguments, _inputs(arguments, read, ()))


def planned(arguments: argparse.Namespace, files: Files) -> MigrationPlan:
    """Return the plan for what the files describe. Raises InputError, ScenarioError."""
    from dataclasses import replace

    from harness.cli.manifests import world_of
    from harness.migrate.folder import MANIFESTS, manifests_text
    from harness.migrate.judging.workloads import running_workloads
    from harness.migrate.proposing.demands import demands_of, taken_names
    from harness.migrate.proposing.proposal import Plan, proposed
    from harness.migrate.proposing.sizes import spelled
    from harness.migrate.walking.ways import Way
    from harness.reading.manifests import manifests_of_text
    from harness.reading.problems import ScenarioError

    inputs = _inputs(arguments, files, ())
    world = world_of(arguments, inputs)
    if mistyped := list(_mistyped(world, files.dump)):
        raise ScenarioError(mistyped)
    objects = [manifest.object for manifest in (*files.dump.manifests, *files.dump.derived)]
    plan = Plan(taken_names(objects), widen=arguments.widen, merge=arguments.merge, demands=demands_of(objects))
    files = replace(files, cluster=spelled(world, files.cluster))
    proposal = proposed(world, files.cluster, plan)
    if not proposal.pools or not running_workloads(files.dump):
        return MigrationPlan(files, inputs, world, proposal, (), None, "")
    manifests = manifests_of_text(manifests_text(proposal), MANIFESTS)
    inputs = _inputs(arguments, files, manifests)
    world = world_of(arguments, inputs)  # with the subnets that the AKSNodeClasses name
    way = Way.SIDE_BY_SIDE if arguments.side_by_side else Way.WAVES
    return _walked(files, inputs, world, proposal, manifests, way)


def _mistyped(world: World, dump: Dump) -> Iterator[Problem]:
    """Yield the fields of wrong types in Karpenter's own resources: an API server stores none, so that no cluster has them.

    What else the CRDs refuse is told by the move, for a release may be other than the one that the dump is from.
    """
    from harness.karpenter.validation.admission import admit
    from harness.karpenter.validation.crds import crd_set
    from harness.reading.problems import Problem

    crds = crd_set(world.release.crds)
    for manifest in (*dump.manifests, *dump.derived, *dump.registered):
        if f"{manifest.object['apiVersion']}/{manifest.kind}" not in crds.kinds:
            continue
        for rejection in admit(manifest.object, crds=crds, kubernetes=world.kubernetes).rejections:
            if "must be of type" in rejection.text:
                hint = manifest.type_hint(rejection.pointer, rejection.text)
                where = manifest.document.position(rejection.pointer)
                yield Problem(where, str(rejection.layer), f"{manifest.kind}/{manifest.name}: {rejection.text}", hint)


def _walked(
    files: Files, inputs: Inputs, world: World, proposal: Proposal, manifests: Sequence[Any], way: Way
) -> MigrationPlan:
    from harness.migrate.folder import DOUBLED, STORY
    from harness.migrate.judging.judgement import Judging
    from harness.migrate.walking.doubling import doubling_of
    from harness.migrate.walking.outcome import reconciled
    from harness.migrate.walking.story import Story, story_text
    from harness.migrate.walking.walk import walked
    from harness.migrate.walking.ways import Way
    from harness.reading.problems import ScenarioError

    judged: Sequence[Judged] = Judging(world, proposal, files.dump, manifests).judged()
    scenario_inputs = _given(inputs, world)
    story = Story(files.cluster, proposal, files.dump, judged)
    text = story_text(story, scenario_inputs, way=way)
    moving = frozenset(pool.name for proposed_pool in proposal.pools for pool in proposed_pool.pools)
    try:
        walk = walked(text, moving, file=STORY)
        doubling = doubling_of(story, scenario_inputs, file=DOUBLED) if way is Way.SIDE_BY_SIDE else None
    except ScenarioError as error:
        problem = str(error.problems[0])
        return MigrationPlan(files, inputs, world, proposal, judged, None, text, problem=problem)
    text = story_text(story, scenario_inputs, walk, way=way)
    return MigrationPlan(files, inputs, world, proposal, reconciled(judged, walk), walk, text, doubling)


def _inputs(arguments: argparse.Namespace, files: Files, manifests: Sequence[Any]) -> Inputs:
    """Return the inputs: of the command line, else of the cluster's description, else of the dump."""
    from dataclasses import replace

    from harness.cli.given_world import inputs_from
    from harness.cli.manifests import options_given
    from harness.karpenter.releases import SHARED_GALLERY

    cluster = files.cluster
    place = f"what {cluster.mark} says" if cluster.mark is not None else ""

    def said(option: str, value: str | None, described: str) -> tuple[str, str | None]:
        return (option, value) if value else (place, described or None)

    instead = {
        "karpenter": ("--release", arguments.release),
        "region": said("--region", arguments.region, cluster.location),
        "kubernetes": said("--kubernetes", arguments.kubernetes, cluster.kubernetes),
        "provision_mode": ("--mode", arguments.mode),
    }
    dump = replace(files.dump, manifests=(*files.dump.manifests, *manifests))
    gallery = {name: str(value).lower() for name, value in SHARED_GALLERY.items()} if arguments.hosting == "nap" else {}
    return inputs_from(dump, instead, {**cluster.network, **gallery, **options_given(arguments)})


def _given(inputs: Inputs, world: World) -> dict[str, Any]:
    """`given` of the scenario of the move: the world's inputs that a scenario can say."""
    from harness.karpenter.releases import find_option

    basics = {"karpenter": world.release.version, "region": world.region, "kubernetes": world.kubernetes}
    mode = {"provisionMode": inputs.arguments["provision_mode"]} if inputs.arguments.get("provision_mode") else {}
    options: dict[str, str] = {}
    for name, value in inputs.options_of(world.release.version).items():
        option = find_option(name)
        if option is not None and option.name and not isinstance(value, Mapping):
            options[option.name] = str(value)
    subnets = {"azure": {"subnets": list(inputs.subnets)}} if inputs.subnets else {}
    return {**basics, **mode, **({"options": options} if options else {}), **subnets}
