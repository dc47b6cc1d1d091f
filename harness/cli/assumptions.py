"""The inputs of a simulation: those of the command line, else those of the files, else defaults; and the lines that tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fakeazure.catalog.locations import location_key
from harness.cli.controller_facts import GATES, gates_on, unseen_sources
from harness.cli.dump_facts import Fact, config_maps, facts_of, unknown_values
from harness.reading.manifests import Manifest
from harness.reading.problems import Problem, ScenarioError

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["Inputs", "inputs_of"]

_WORDS = {"karpenter": "provider", "kubernetes": "Kubernetes", "region": "region"}
_HOSTS = {"nap": "node auto-provisioning", "self-hosted": "self-hosted"}
_NETWORK = ("network_plugin", "network_plugin_mode", "network_dataplane")


@dataclass(frozen=True, slots=True)
class Inputs:
    """`arguments` are World's, of what the command line or the files say; `options` those of the controller, by any of their names.

    `read` is what was taken from the files; `overruled` what they say, too, with what the command line says instead. `unseen`: lines
    about sources that no file has. `subnets` are ids that are there, `network` what is assumed of the cluster's own.
    """

    arguments: Mapping[str, str]
    options: Mapping[str, Any]
    read: tuple[Fact, ...]
    overruled: tuple[tuple[Fact, str], ...]
    unseen: tuple[str, ...] = ()
    subnets: tuple[str, ...] = ()
    network: str = ""
    moment: int | None = None
    """When the files' cluster was so, None where they do not say (Dump.time)."""

    def head(self, world: World) -> Iterator[str]:
        """Yield the head of an answer: region and release; the facts that were read and where, their substitutes, and the assumptions."""
        yield f"{world.region}, provider {world.release.version}"
        yield from self.notes(world)

    def notes(self, world: World) -> Iterator[str]:
        """The same without region and release, which a page has anyway."""
        yield from self.lines()
        for fact in self._left_out(world.release.version).values():
            yield f"provider {world.release.version} has no option {_named(fact.name, fact.value)} ({fact.place}): left out"
        if assumed := list(self._assumed(world)):
            yield f"assumed: {', '.join(assumed)}"
        if world.spot_discount:
            from harness.trace.prices import supposed_text

            yield supposed_text(world.spot_discount)

    def lines(self) -> Iterator[str]:
        """Yield the facts that were read and where, and their substitutes; nothing when the files say nothing."""
        if self.read:
            yield "read from the files: " + "; ".join(
                f"{_named(fact.name, fact.value)} ({fact.place})" for fact in self.read
            )
        for fact, instead in self.overruled:
            yield f"{instead} is taken, not {_named(fact.name, fact.value)} ({fact.place})"
        yield from gates_on(self.gates)
        yield from self.unseen

    def options_of(self, karpenter: str | None) -> Mapping[str, Any]:
        """The options without those of the files that a release of the provider (None: the default) does not have."""
        left_out = self._left_out(karpenter)
        return {name: value for name, value in self.options.items() if name not in left_out}

    def _left_out(self, karpenter: str | None) -> dict[str, Fact]:
        from harness.karpenter.releases import DEFAULT_RELEASE, find_option

        options = {fact.name: (fact, find_option(fact.name)) for fact in self.read}
        return {
            name: fact
            for name, (fact, option) in options.items()
            if option is not None and not option.is_of(karpenter or DEFAULT_RELEASE)
        }

    @property
    def gates(self) -> str:
        """The feature gates that are on in the cluster: `NodeOverlay=true,StaticCapacity=true`."""
        return next((fact.value for fact in self.read if fact.name == GATES), "")

    def value(self) -> list[dict[str, str]]:
        """Return the facts that were read, for JSON."""
        return [
            {"name": fact.name, "value": fact.value, "place": str(fact.mark), "object": fact.source}
            for fact in self.read
        ]

    def _assumed(self, world: World) -> Iterator[str]:
        from harness.karpenter.releases import find_option

        own_fields = {option.field for name in self.options if (option := find_option(name)) is not None}
        decided = {*self.arguments, *own_fields, *(fact.name for fact in self.read)}
        values = {"region": world.region, "karpenter": world.release.version, "kubernetes": world.kubernetes}
        values |= ({} if "use_sig" in own_fields else {"hosting": "self-hosted"}) | {
            name: getattr(world.options, name) for name in _NETWORK
        }
        yield from (_named(name, value) for name, value in values.items() if name not in decided)
        if self.network:
            yield self.network


def inputs_of(
    manifests: Sequence[Manifest],
    words: Mapping[str, tuple[str, str | None]],
    options: Mapping[str, str] | None = None,
) -> Inputs:
    """`words` are World's arguments by name, each with its flag and what the command line says of it, None for nothing.

    Raises ScenarioError where the files contradict themselves or say what nobody knows, or the command line contradicts their region: of
    another release or Kubernetes version one may ask what it would do, but Nodes are where they are. `options` are those of the controller.
    """
    from harness.karpenter.releases import SHARED_GALLERY, find_option

    facts = facts_of(manifests)
    own = {option.field: (name, value) for name, value in (options or {}).items() if (option := find_option(name))}
    instead = {name: f"--option {word}={value}" for name, (word, value) in own.items()}
    instead |= {name: f"{flag} {value}" for name, (flag, value) in words.items() if value is not None}
    values = {
        **{name: value for name, (_, value) in own.items()},
        **{name: value for name, (_, value) in words.items() if value},
    }
    if "region" in values:
        values["region"] = location_key(values["region"])
    read = [fact for name, fact in facts.items() if name not in instead]
    problems = list(unknown_values(read))
    region = facts.get("region")
    if region is not None and values.get("region", region.value) != region.value:
        text = f"{region.source} is in region '{region.value}', but the command line says {instead['region']}"
        problems.append(Problem(region.mark, "", text))
    if problems:
        raise ScenarioError(problems)
    taken = {fact.name: fact.value for fact in read}
    gallery = SHARED_GALLERY if taken.pop("hosting", None) == "nap" else {}
    arguments = {name: value for name in words if (value := values.get(name) or taken.get(name))}
    from_files = {name: value for name, value in taken.items() if name not in words}
    overruled = [
        (fact, instead[name]) for name, fact in facts.items() if name in instead and values[name] != fact.value
    ]
    unseen = tuple(unseen_sources(manifests, config_maps(manifests)))
    return Inputs(arguments, {**gallery, **from_files, **(options or {})}, tuple(read), tuple(overruled), unseen)


def _named(name: str, value: str) -> str:
    if name == "hosting":
        return _HOSTS[value]
    return f"{_WORDS.get(name, name.replace('_', '-'))} {value or 'empty'}"
