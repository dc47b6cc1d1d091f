"""`harness sweep`: many situations in, one row each out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from harness.cli.manifests import add_spot_discount
from harness.cli.output import NO_ENVIRONMENT, bad_input, display_name, no_environment, print_json, show
from harness.cli.outside import add_allow_outside, checkout_given
from harness.interrupts import code_of
from harness.limits import SITUATIONS
from harness.outputs import write_text
from harness.wording import counted
from plainlines import print_line, printable

if TYPE_CHECKING:
    from harness.sweep.engines import Engine
    from harness.sweep.plan import Plan
    from harness.sweep.table import Store

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness sweep`."""
    parser.add_argument(
        "plan",
        type=Path,
        metavar="PLAN",
        help="a scenario file without `then`: its matrix and cases are the axes; or the table of a sweep, to look at it again",
    )
    parser.add_argument("--releases", metavar="R[,R…]", help="releases of the provider as a further axis, or `all`")
    parser.add_argument("--regions", metavar="R[,R…]", help="Azure regions as a further axis, or `all`")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds from 0 on as a further axis")
    add_spot_discount(parser, metavar="PERCENT[,…]", several="; several are a further axis")
    parser.add_argument(
        "--until", metavar="TIME", help="virtual time that passes, for example 72h, in place of what the plan says"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the table, as .parquet, .csv or .jsonl; what is known of it is not run again",
    )
    parser.add_argument("--force", action="store_true", help="begin anew, and replace the table of another plan")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="also write one HTML page of the table, which needs nothing else"
    )
    parser.add_argument(
        "--engine", default="local", metavar="E", help="local (default), or dask://HOST:PORT of a Dask scheduler"
    )
    parser.add_argument(
        "-n",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes of the local engine (default %(default)s)",
    )
    parser.add_argument(
        "--wait",
        default="5m",
        metavar="TIME",
        help="with Dask: how long nobody may work on any situation; then the command ends with the rows that it has (default 5m)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the output (default text)")
    add_allow_outside(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the plan: 0 when each situation has a row, 1 when one failed, 2 for bad input, 3 without workers, 130 after Ctrl-C."""
    from harness.cli.destinations import check_outputs
    from harness.cli.worlds import InputError
    from harness.reading.problems import ScenarioError
    from harness.sweep.engines import EngineMissing
    from harness.sweep.plan import read_plan
    from harness.sweep.table import FORMATS, TableError

    try:
        _check(arguments)
        if arguments.plan.suffix in FORMATS:
            return _look(arguments)
        plan = read_plan(
            arguments.plan,
            display_name(arguments.plan),
            until=None if arguments.until is None else _seconds("--until", arguments.until),
            more=_axes(arguments),
            checkout=checkout_given(arguments),
        )
        check_outputs(arguments, "output", "html", read=map(Path, plan.files))
        return _run(plan, _engine(arguments), arguments)
    except InputError as error:
        return bad_input(f"harness sweep: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    except TableError as error:
        return bad_input(f"harness sweep: {error}")
    except EngineMissing as error:
        return no_environment(f"harness sweep: {error}")


def _check(arguments: argparse.Namespace) -> None:
    """Raise InputError or TableError for options that do not go together."""
    from harness.cli.destinations import check_outputs
    from harness.cli.worlds import InputError
    from harness.sweep.table import check_format

    if arguments.n < 1:
        raise InputError(f"-n {arguments.n}: a number from 1 is expected")
    if arguments.seeds is not None and arguments.seeds < 1:
        raise InputError(f"--seeds {arguments.seeds}: a number from 1 is expected")
    if arguments.seeds is not None and arguments.seeds > SITUATIONS.most():
        raise InputError(
            f"--seeds {arguments.seeds}: a sweep has at most {SITUATIONS.most():,} situations; {SITUATIONS.hint}"
        )
    if arguments.output is not None:
        check_format(arguments.output)
    check_outputs(arguments, "output", "html")


def _engine(arguments: argparse.Namespace) -> Engine:
    """Return the engine. Raises InputError, EngineMissing."""
    from harness.cli.worlds import InputError
    from harness.sweep.choice import engine_of

    wait = _seconds("--wait", arguments.wait)
    try:
        return engine_of(
            arguments.engine, arguments.n, wait, lambda text: print_line(printable(text), error=True, flush=True)
        )
    except ValueError as error:
        raise InputError(f"--engine {error}") from error


def _seconds(option: str, text: str) -> float:
    """Return the seconds of an option. Raises InputError."""
    from harness.cli.durations import seconds_of
    from harness.cli.worlds import InputError

    try:
        return seconds_of(text)
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None


def _axes(arguments: argparse.Namespace) -> dict[str, Sequence[str | int]]:
    """The axes of the options, which come after the plan's own. Raises InputError."""
    from fakeazure.catalog.locations import location_key
    from fakeazure.catalog.regions import REGIONS
    from fakeazure.market.spot_discount import SPOT_DISCOUNT
    from harness.cli.worlds import InputError, check_release, check_spot_discount
    from harness.karpenter.releases import ALL_PROVIDER_RELEASES
    from harness.world.inputs import region_mistake

    axes: dict[str, Sequence[str | int]] = {}
    if arguments.releases is not None:
        names = ALL_PROVIDER_RELEASES if arguments.releases == "all" else arguments.releases.split(",")
        for name in names:
            check_release(name, "--releases")
        axes["karpenter"] = names
    if arguments.regions is not None:
        names = sorted(REGIONS) if arguments.regions == "all" else arguments.regions.split(",")
        for name in names:
            if (mistake := region_mistake(name)) is not None:
                raise InputError(f"--regions: {mistake}", mistake=mistake)
        axes["region"] = [location_key(name) for name in names]
    if arguments.seeds is not None:
        axes["seed"] = range(arguments.seeds)
    if arguments.spot_discount is not None:
        axes[SPOT_DISCOUNT] = [check_spot_discount(text) for text in arguments.spot_discount.split(",")]
    for option, values in (
        ("--releases", axes.get("karpenter", ())),
        ("--regions", axes.get("region", ())),
        ("--spot-discount", axes.get(SPOT_DISCOUNT, ())),
    ):
        for value in values:
            if values.count(value) > 1:
                raise InputError(f"{option}: '{value}' stands there more than once")
    return axes


def _run(plan: Plan, engine: Engine, arguments: argparse.Namespace) -> int:
    from harness.sweep.engines import EngineLost, batches
    from harness.sweep.table import Store, rows_of, write_table

    store = Store(arguments.output) if arguments.output is not None else None
    outcomes = _known(plan, store, arguments) if store is not None else {}
    todo = batches(plan, outcomes, engine.width)
    before, start = sum(planned.key in outcomes for planned in plan.planned), perf_counter()
    interrupted, why = 0, "interrupted"
    try:
        _work(engine, todo, outcomes, store, len({planned.key for planned in plan.planned}) - before)
    except KeyboardInterrupt as interrupt:
        interrupted = code_of(interrupt)
    except EngineLost as error:
        interrupted, why = NO_ENVIRONMENT, f"harness sweep: {error}: ended"
    rows = rows_of(plan, outcomes)
    if store is not None:
        if not interrupted:
            write_table(arguments.output, plan.axes, rows)
        store.close(done=not interrupted)
    facts = {
        "plan": plan.name,
        "situations": len(plan.planned),
        "ran": len(rows) - before,
        "known_before": before,
        "notes": list(plan.notes),
    }
    _tell(plan, rows, facts, perf_counter() - start, arguments)
    if interrupted:
        hint = f"; {store.path} keeps what is known: the same command goes on" if store is not None else ""
        print_line(f"{why} after {len(rows)} of {len(plan.planned)}{hint}", error=True)
        return interrupted
    return int(any(row["error"] for row in rows))


def _known(plan: Plan, store: Store, arguments: argparse.Namespace) -> dict[str, Any]:
    """The rows that are there already; one that failed is tried again. Raises TableError where rows of another plan would be lost."""
    from harness.sweep.result import KEY, OUTCOME
    from harness.sweep.table import TableError, read_table

    table: Path = arguments.output
    if arguments.force:
        store.path.unlink(missing_ok=True)
        return {}
    try:
        before = read_table(table) if table.exists() else []
    except TableError as error:
        raise TableError(f"{error}; --force replaces it") from error
    keys = {planned.key for planned in plan.planned}
    outcomes = {str(row[KEY]): {name: row[name] for name in OUTCOME} for row in before}
    for path, rows in ((table, outcomes), (store.path, store.read())):
        others = len(rows.keys() - keys)
        if others:
            raise TableError(
                f"--output {path}: {others} of its {counted(len(rows), 'row')} {'answers' if others == 1 else 'answer'} "
                "another plan and would be lost; --force replaces it"
            )
        outcomes.update(rows)
    return {key: row for key, row in outcomes.items() if not row["error"]}


def _look(arguments: argparse.Namespace) -> int:
    """Tells once more what a table says. Raises InputError, TableError."""
    from harness.cli.worlds import InputError
    from harness.sweep.summary import is_over_time
    from harness.sweep.table import axes_of, read_table

    for option in ("releases", "regions", "seeds", "spot_discount", "until", "output"):
        if getattr(arguments, option) is not None:
            raise InputError(f"--{option.replace('_', '-')} is for a plan: {arguments.plan} is a table")
    rows = read_table(arguments.plan)
    _show(display_name(arguments.plan), axes_of(rows), rows, is_over_time(rows), arguments)
    return int(any(row["error"] for row in rows))


def _work(engine: Engine, todo: Sequence[Any], outcomes: dict[str, Any], store: Store | None, count: int) -> None:
    from harness.cli.run_cases import progress

    bar = progress(count, noun="situations")
    try:
        for rows in engine(todo):
            outcomes.update(rows)
            if store is not None:
                store.add(rows)
            for _, row in rows:
                bar.advance(bad=bool(row["error"]))
    finally:
        bar.end()


def _tell(
    plan: Plan,
    rows: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
    seconds: float,
    arguments: argparse.Namespace,
) -> None:
    before = f", {facts['known_before']} known before" if facts["known_before"] else ""
    if arguments.format == "text":
        print_line(
            f"{plan.name}: {counted(len(plan.planned), 'situation')}, {facts['ran']} ran in {seconds:.1f} s{before}"
        )
    _show(plan.name, plan.axes, rows, any(planned.situation.until for planned in plan.planned), arguments, facts)
    if arguments.format == "text" and arguments.output is not None and len(rows) == len(plan.planned):
        print_line(f"{counted(len(rows), 'row')} in {display_name(arguments.output)}")


def _show(
    name: str,
    axes: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    over_time: bool,
    arguments: argparse.Namespace,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Print the summary of the rows, and write their page."""
    from harness.reports.picture.sweep import sweep_page
    from harness.sweep.summary import summary_lines

    if arguments.html is not None:
        write_text(
            arguments.html, sweep_page(name, axes, rows, over_time=over_time, notes=(facts or {}).get("notes", ()))
        )
    if arguments.format == "json":
        print_json({**(facts or {"plan": name}), "rows": list(rows)})
        return
    for line in (*(facts or {}).get("notes", ()), *summary_lines(axes, rows, over_time=over_time)):
        show(line)
