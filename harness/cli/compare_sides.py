"""The two sides of `harness compare`: traces that are read, or made by running scenarios and manifests."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atomicfiles.inputs import open_input
from fakeazure.market.spot_discount import SPOT_DISCOUNT
from harness.cli.output import display_name
from harness.cli.outside import checkout_given
from harness.cli.worlds import InputError, check_release, check_spot_discount

if TYPE_CHECKING:
    from harness.clusters.control_plane.cluster import RealCluster
    from harness.reading.checkout import Checkout
    from harness.scenario.language.cases import Case
    from harness.trace import Trace

__all__ = ["ComparedTraces", "compared_traces", "is_trace", "one_trace"]

_NAMED = 5
_OPTIONS = ("release", "region", "cluster", "karpenter", "spot_discount")

Compared = tuple[str, "Trace", "Trace"]


@dataclass(frozen=True, slots=True)
class Side:
    """One file, and what replaces what it says."""

    path: Path
    release: str | None
    region: str | None
    cluster: str
    karpenter: str
    kubernetes: str | None = None
    spot_discount: str | None = None
    fixed: bool = False
    """Whether `kubernetes` also replaces what the file says."""
    checkout: Checkout | None = None
    """The checkout of files that it may name; by itself the one that it lies in."""
    notes: dict[str, None] = field(default_factory=dict, compare=False)
    """Lines about what was read of manifests and left out of them, filled when they are run."""


@dataclass(frozen=True, slots=True)
class ComparedTraces:
    """Name and both traces of everything that is to be compared; `note` is about what both have, `notes` about what was read."""

    traces: list[Compared]
    note: str
    notes: tuple[str, ...]


def compared_traces(arguments: argparse.Namespace) -> ComparedTraces:
    """The traces of both sides, which are run where they are none. Raises InputError, TraceError, ScenarioError, OSError, MissingTool."""
    left, right = (replace(side, checkout=checkout_given(arguments)) for side in _sides(arguments))
    version, note = None, ""
    if arguments.kubernetes is not None:
        left, right = (replace(side, kubernetes=arguments.kubernetes, fixed=True) for side in (left, right))
    elif left.release != right.release:
        version, note = _common_kubernetes(left, right)
        left, right = (replace(side, kubernetes=version) for side in (left, right))
    traced = _both(left, right, arguments.k)
    versions = {trace.header.kubernetes for _, *traces in traced for trace in traces}
    return ComparedTraces(traced, note if versions == {version} else "", tuple({**left.notes, **right.notes}))


def _common_kubernetes(left: Side, right: Side) -> tuple[str | None, str]:
    """The Kubernetes of both sides where the releases are to differ and nothing else, and what to say of it."""
    from harness.explain.labels.comparison import common_kubernetes
    from harness.explain.traces.group_texts import kubernetes_line
    from harness.karpenter.releases import provider

    releases = [provider(side.release) for side in (left, right) if side.release is not None]
    version = common_kubernetes(releases)
    return version, kubernetes_line(version, {release.version: release.defaults.kubernetes for release in releases})


def _both(left: Side, right: Side, text: str | None) -> list[Compared]:
    if {left.karpenter, right.karpenter} != {"simulated"}:
        return list(_both_karpenters(left, right, text))
    with ExitStack() as clusters:
        overrides = [_overrides(side, clusters) for side in (left, right)]
        # a real cluster has one version of Kubernetes, which is then that of both worlds
        version = next((override["kubernetes"] for override in overrides if "kubernetes" in override), None)
        made = [
            _traces(side, {**override, **({"kubernetes": version} if version else {})}, text)
            for side, override in zip((left, right), overrides, strict=True)
        ]
        return _paired(*made)


def one_trace(
    path: Path, text: str | None, release: str | None, region: str | None, seed: int | None = None
) -> tuple[Trace, tuple[str, ...]]:
    """The trace of a file, or of what it runs, and lines about what was read; of several cases the one of that name.

    Raises as `compared_traces`.
    """
    _check_is_file(path)
    if seed is not None and is_trace(path):
        raise InputError(f"{display_name(path)}: a trace is as it is; --seed is for what is run")
    side = Side(path, release, region, "memory", "simulated")
    traces = _traces(side, {} if seed is None else {"seed": seed}, text)
    exact = [trace for name, trace in traces if name == text]
    if len(traces) > 1 and len(exact) != 1:
        few = ", ".join(repr(name) for name, _ in traces[:_NAMED]) + (", …" if len(traces) > _NAMED else "")
        raise InputError(f"{display_name(path)}: {len(traces)} cases; -k chooses one: {few}")
    return exact[0] if exact else traces[0][1], tuple(side.notes)


def _sides(arguments: argparse.Namespace) -> tuple[Side, Side]:
    if len(arguments.files) > 2:
        raise InputError(f"{len(arguments.files)} files; one or two are compared")
    values: dict[str, list[str | None]] = {}
    for option in _OPTIONS:
        text_given = getattr(arguments, option)
        words = [None] if text_given is None else text_given.split(",")
        if len(words) > 2 or "" in words:
            raise InputError(f"--{option.replace('_', '-')} {text_given}: A or A,B is expected")
        values[option] = [words[0], words[-1]]
    if len(arguments.files) == 1 and all(left == right for left, right in values.values()):
        raise InputError(
            "one file, and nothing that differs: name a second file, or two values of --release, --region, --spot-discount, --cluster or "
            "--karpenter"
        )
    for name in filter(None, values["release"]):
        check_release(name)
    for text in filter(None, values["spot_discount"]):
        check_spot_discount(text)
    _check("cluster", values["cluster"], ("memory", "http", "apiserver", "kind"))
    _check("karpenter", values["karpenter"], ("simulated", "real"))
    paths = [arguments.files[0], arguments.files[-1]]
    for path in paths:
        if not path.is_dir():  # whose files are manifests
            _check_is_file(path)
    sides = [
        Side(
            paths[number],
            values["release"][number],
            values["region"][number],
            values["cluster"][number] or "memory",
            values["karpenter"][number] or "simulated",
            spot_discount=values["spot_discount"][number],
        )
        for number in range(2)
    ]
    return sides[0], sides[1]


def _check_is_file(path: Path) -> None:
    """A pipe is none: whether a file is a trace or is run is told from its beginning, and it is read once more after that."""
    if not path.is_file():
        raise InputError(f"{display_name(path)}: {'is not a file' if path.exists() else 'there is no such file'}")


def _check(option: str, words: Sequence[str | None], allowed: Sequence[str]) -> None:
    from harness.wording import did_you_mean

    for word in words:
        if word is not None and word not in allowed:
            raise InputError(f"--{option} {word}: unknown; {did_you_mean(word, allowed)}")


def _paired(left: Sequence[tuple[str, Trace]], right: Sequence[tuple[str, Trace]]) -> list[Compared]:
    """By name where the names are the same, else by number."""
    named = dict(right)
    if [name for name, _ in left] == [name for name, _ in right]:
        return [(name, trace, named[name]) for name, trace in left]
    if len(left) != len(right):
        raise InputError(f"{len(left)} cases beside {len(right)}: -k chooses some")
    pairs = zip_longest(left, right)
    return [(f"{name} | {other}" if name != other else name, mine, theirs) for (name, mine), (other, theirs) in pairs]


def is_trace(path: Path) -> bool:
    """Return whether a file is a trace, by its first characters."""
    with open_input(path) as file:
        start = file.read(9)
    return start.startswith((b"\x1f\x8b", b'{"trace":'))


def _traces(side: Side, overrides: dict[str, Any], text: str | None) -> list[tuple[str, Trace]]:
    from harness.sniffing import is_scenario_file
    from harness.trace import read_trace

    if side.path.is_dir():
        return [("", _of_manifests(side, overrides))]
    if is_trace(side.path):
        if side.release or side.region or side.cluster != "memory" or side.spot_discount:
            raise InputError(
                f"{display_name(side.path)}: a trace is as it is; --release, --region, --spot-discount and --cluster are for what is run"
            )
        return [("", read_trace(side.path))]
    if is_scenario_file(side.path):
        return [(case.name, _of_case(case, side, overrides)) for case in _cases(side, text)]
    return [("", _of_manifests(side, overrides))]


def _overrides(side: Side, clusters: ExitStack) -> dict[str, Any]:
    """The cluster that a world is to be on, with the version of a real one."""
    if side.cluster == "memory":
        return {}
    from harness.clusters.leases import LEASED, start
    from harness.clusters.remote.attaching import attach

    if side.cluster not in LEASED:
        raise InputError(f"--cluster {side.cluster}: traces are compared on memory, {', '.join(LEASED)}")
    cluster: RealCluster = start(side.cluster)
    clusters.callback(cluster.stop)
    return {"cluster": attach(cluster), "kubernetes": cluster.version()}


def _cases(side: Side, text: str | None) -> list[Case]:
    from harness.karpenter.releases import provider
    from harness.scenario.language.files import load

    release = provider(side.release).version if side.release is not None else None
    scenarios = load(side.path, display_name(side.path), release=release, checkout=side.checkout)
    cases = [case for scenario in scenarios for case in scenario.cases]
    chosen = [case for case in cases if text is None or text in case.name]
    if not chosen:
        raise InputError(f"no cases{f' whose name contains {text!r}' if text else ''} in {display_name(side.path)}")
    side.notes.update(dict.fromkeys(note for case in chosen for note in case.notes))
    return chosen


def _of_case(case: Case, side: Side, overrides: dict[str, Any]) -> Trace:
    """Run a case and records it."""
    from harness.scenario.language.inputs import world_arguments
    from harness.scenario.running.runner import Runner, expected_outcome
    from harness.scenario.running.tracing import finished

    here = {"memory": case.needs, "http": case.needs, "apiserver": ("simulated-kubelets",)}.get(side.cluster, ())
    if needs := [need for need in case.needs if need not in here]:
        raise InputError(f"{case.name}: needs {', '.join(needs)}, which {side.cluster} does not have")
    if side.fixed or case.given.kubernetes is None:
        overrides = {"kubernetes": side.kubernetes, **overrides}
    if side.spot_discount is not None:
        overrides = {"azure": {**world_arguments(case.given).get("azure", {}), **_market(side)}, **overrides}
    runner = Runner(**overrides, region=side.region)
    runner.check_inputs([case])
    run, verdicts = runner.examine(case, recorded=True)
    side.notes.update(dict.fromkeys(run.exhausted))
    return finished(run, verdicts, str(expected_outcome(case, verdicts)[0]))


def _of_manifests(side: Side, overrides: dict[str, Any]) -> Trace:
    """Return the trace of manifests, as `harness simulate` makes it."""
    from harness.cli.given import read_files
    from harness.cli.given_world import inputs_from, world_from
    from harness.cli.manifests import apply_manifests, settle
    from harness.trace import record

    dump = read_files([side.path], checkout=side.checkout)
    words = {
        "karpenter": ("--release", side.release),
        "region": ("--region", side.region),
        "kubernetes": ("--kubernetes", side.kubernetes if side.fixed else None),
    }
    inputs = inputs_from(dump, words)
    common = None if "kubernetes" in inputs.arguments else side.kubernetes
    world = world_from(inputs, azure=_market(side), **{"kubernetes": common, **overrides})
    recording = record(world)
    for manifest in dump.manifests:
        mark = manifest.document.position()
        recording.place(manifest.reference, mark.file, mark.line)
    apply_manifests(world, dump.manifests)
    motion = settle(world)  # a trace tells of runaways
    lines = [*inputs.lines(), *dump.notes(), "" if world.engine.runaways else motion]
    side.notes.update(dict.fromkeys(filter(None, lines)))
    return recording.trace()


def _market(side: Side) -> dict[str, Any]:
    """Return the fields of `given.azure` that the options of a side set."""
    return {} if side.spot_discount is None else {SPOT_DISCOUNT: side.spot_discount}


def _both_karpenters(left: Side, right: Side, text: str | None) -> Iterator[Compared]:
    """Each case under the simulated loop and the real controller."""
    from harness.clusters.folders import temporary_folder
    from harness.scenario.comparing.comparison import Result
    from harness.scenario.comparing.kept import KeptDifferences
    from harness.scenario.comparing.real_runs import RealRuns
    from harness.scenario.running.tracing import Tracing, trace_name
    from harness.sniffing import is_scenario_file
    from harness.trace import read_trace
    from harness.world import default_caches

    if (
        left.path != right.path
        or left.karpenter == right.karpenter
        or left.path.is_dir()
        or not is_scenario_file(left.path)
    ):
        raise InputError("--karpenter simulated,real is about one scenario file")
    ignored = _ignored_of_both(left, right)
    if ignored:
        raise InputError(
            f"--karpenter simulated,real runs each case as its file says: {', '.join(ignored)} cannot replace that"
        )
    binaries = _binaries()
    with temporary_folder("compare") as folder:
        runs = RealRuns(default_caches(), binaries, KeptDifferences(), {}, tracing=Tracing(folder))
        try:
            for case in _cases(left, text):
                comparison = runs.compare(case)
                if comparison.result not in (Result.AGREE, Result.DIFFER):
                    raise InputError(f"{case.name}: {comparison.result}: {comparison.reason}")
                sides = [
                    read_trace(folder / karpenter / trace_name(case)) for karpenter in (left.karpenter, right.karpenter)
                ]
                yield case.name, sides[0], sides[1]
        finally:
            runs.close()


def _ignored_of_both(left: Side, right: Side) -> list[str]:
    """Return the options that a run under both Karpenters does not go by; one release replaces that of the file."""
    ignored = {
        "--release": left.release != right.release,
        "--region": left.region or right.region,
        "--cluster": {left.cluster, right.cluster} != {"memory"},
        "--spot-discount": left.spot_discount or right.spot_discount,
        "--kubernetes": left.fixed,
    }
    return [option for option, replaces in ignored.items() if replaces]


def _binaries() -> dict[str, Path]:
    from harness.world.real.binaries import VARIABLE, BinariesWrong, binaries
    from harness.world.real.process import missing_tools

    try:
        by_release = dict(binaries())
    except BinariesWrong as error:
        raise InputError(str(error)) from None
    if not by_release:
        raise InputError(f"--karpenter real needs {VARIABLE}: the path of the controller, or RELEASE=PATH,RELEASE=PATH")
    if lacking := missing_tools():
        raise InputError(f"--karpenter real: {lacking}")
    return by_release
