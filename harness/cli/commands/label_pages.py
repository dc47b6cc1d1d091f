"""`harness labels pages DIR`: writes the documentation's pages about label keys."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from harness.cli.output import bad_input
from harness.outputs import write_text
from plainlines import print_line, printable

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Tries every key in every release that differs from the one before (a minute or two), and writes the pages."""
    from harness.karpenter.releases import DEFAULT_RELEASE

    ignored = {
        "--release": arguments.release != DEFAULT_RELEASE,
        "--region": arguments.region != "eastus",
        "--mode": arguments.mode is not None,
        "--format": arguments.format != "text",
    }
    if set_options := [option for option, is_set in ignored.items() if is_set]:
        return bad_input(
            f"harness labels pages: {', '.join(set_options)}: the pages are of all releases, in eastus, as Markdown"
        )
    names = arguments.keys[1:]
    if len(names) != 1:
        return bad_input("harness labels pages: one directory is expected")
    directory = Path(names[0])
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:  # before the minutes that the trials take
        return bad_input(printable(f"harness labels pages: {directory}: {(error.strerror or str(error)).lower()}"))
    for name, text in _pages().items():
        write_text(directory / name, text)
    return 0


def _pages() -> dict[str, str]:
    """The pages by file name; says meanwhile which release it tries."""
    from fakeazure.aks.node_labels import reasons
    from harness.cli.worlds import create_world
    from harness.explain.labels.comparison import common_kubernetes
    from harness.explain.labels.pages import (
        CHECKED,
        agent_pool_labels,
        all_keys,
        claims_page,
        column_of,
        differences_page,
        evolution_page,
        machine_cells,
        policies_page,
        table_page,
        turning_points,
    )
    from harness.karpenter.releases import provider

    def new_world(**more: Any) -> Any:
        return create_world(region="eastus", **more)

    keys = all_keys()
    kubernetes = common_kubernetes([provider(name) for name in turning_points()])

    def tried(name: str, **more: Any) -> Any:
        print_line(f"trying {len(keys)} keys in {name}", error=True)
        return column_of(name, keys, partial(new_world, **more))

    evolution = {name: tried(name, kubernetes=kubernetes) for name in turning_points()}
    columns = {name: tried(name) for name in CHECKED}
    machine = machine_cells(CHECKED[-1], new_world)
    agent_pools = agent_pool_labels(new_world)
    return {
        "evolution.md": evolution_page(evolution, kubernetes),
        "claims.md": claims_page(columns, machine, reasons()),
        "policies.md": policies_page(),
        "differences.md": differences_page(),
        **{f"{name}.md": table_page(name, columns[name], agent_pools) for name in CHECKED},
    }
