"""`harness labels`: every label key of a release, found out by trying."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any

from harness.cli.output import add_format, bad_input, print_json
from plainlines import joined, print_line

if TYPE_CHECKING:
    from harness.explain.labels.probes import LabelFact

__all__ = ["add_arguments", "run"]

NO_NODE = 3
_QUESTIONS = {
    "diff": "harness.cli.commands.label_diff",
    "explain": "harness.cli.commands.label_explain",
    "pages": "harness.cli.commands.label_pages",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness labels`."""
    from harness.karpenter.releases import DEFAULT_RELEASE

    parser.add_argument(
        "keys",
        nargs="*",
        metavar="KEY",
        help="only these keys (any key can be tried); or `diff R R`: what differs between two releases or a design document "
        "and a release; or `explain KEY`: the whole story of a key; or `pages DIR`: the pages of the documentation",
    )
    parser.add_argument(
        "--release", default=DEFAULT_RELEASE, metavar="R", help="release of the provider (default %(default)s)"
    )
    parser.add_argument("--region", default="eastus", metavar="R", help="Azure region (default %(default)s)")
    parser.add_argument("--mode", metavar="M", help="provision mode; the release's default when absent")
    parser.add_argument("--as-written", action="store_true", help="try a key although it looks like a typing error")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each key: pod, NodePool, Node, and the source of each cell."""
    if arguments.keys and arguments.keys[0] in _QUESTIONS:
        module = import_module(_QUESTIONS[arguments.keys[0]])
        code: int = module.run(arguments)
        return code
    from harness.cli.label_names import key_mistakes
    from harness.cli.worlds import InputError, create_world
    from harness.explain.labels.probes import LabelProbe, keys_of_all_releases, known_keys
    from harness.world import World

    inputs = {"karpenter": arguments.release, "region": arguments.region, "provision_mode": arguments.mode}

    def new_world() -> World:
        return create_world(**inputs)

    try:
        world = new_world()
    except InputError as error:
        return bad_input(f"harness labels: {error}")
    release = world.release
    keys = known_keys(release)
    every = keys_of_all_releases() if arguments.keys else ()
    mistakes = list(key_mistakes(arguments.keys, every, questions=_QUESTIONS, as_written=arguments.as_written))
    if mistakes:
        return bad_input(joined(f"harness labels: {mistake}" for mistake in mistakes))
    probe = LabelProbe(new_world)
    try:
        facts = [probe.fact(key) for key in arguments.keys or keys]
    except LookupError as error:  # a region that sells nothing to the default NodePool
        print_line(f"harness labels: {error}", error=True)
        return NO_NODE
    if arguments.format == "json":
        print_json({"release": release.version, "region": world.region, "labels": [_value(fact) for fact in facts]})
        return 0
    width = max(len(fact.key) for fact in facts)
    print_line(f"{'key':{width}}  {'pod':16} {'nodepool':18} written by")
    for fact in facts:
        pool = "yes" if fact.nodepool.settable else f"no, {fact.nodepool.rejections[0].layer}"
        print_line(f"{fact.key:{width}}  {fact.pod.outcome:16} {pool:18} {_written(fact)}")
    return 0


def _written(fact: LabelFact) -> str:
    if fact.value is None:
        kinds = sorted({f"{write.by} {write.kind}" for write in fact.writes})
        return f"no ({', '.join(kinds)})" if kinds else "no"
    last = _last(fact)
    source = f" ({last.from_})" if last is not None and last.from_ else ""
    return f"{last.by if last is not None else '?'}{source}: {fact.value}"


def _last(fact: LabelFact) -> Any:
    changes = [write for write in fact.writes if str(write.kind) in ("set", "overwrote")]
    return changes[-1] if changes else None


def _value(fact: LabelFact) -> dict[str, Any]:
    last = _last(fact)
    return {
        "key": fact.key,
        "pod": {
            "schedulable": str(fact.pod.outcome) == "bound",
            "outcome": str(fact.pod.outcome),
            "value": fact.pod.value,
            "message": fact.pod.message or None,
            "source": fact.pod.source,
        },
        "nodepool": {
            "settable": fact.nodepool.settable,
            "value": fact.nodepool.value,
            "layer": None if fact.nodepool.settable else str(fact.nodepool.rejections[0].layer),
            "message": None if fact.nodepool.settable else fact.nodepool.rejections[0].message,
            "source": fact.nodepool.source,
        },
        "written": {
            "on_node": fact.value is not None,
            "value": fact.value,
            "by": last.by if last is not None and fact.value is not None else None,
            "from": last.from_ if last is not None and fact.value is not None else None,
            "writes": [
                {"kind": str(write.kind), "by": write.by, "from": write.from_, "value": write.value}
                for write in fact.writes
            ],
            "source": "the writes to a Node that nobody asked anything of",
        },
    }
