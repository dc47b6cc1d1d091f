"""`python -m tests.conformance`: the differential run (`run`), the turns of the disruption controller in scenarios (`turns`), the golden
vectors (`golden`), the label tables of the corpus (`record-labels`) and the oracles alone (`build`).
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from tests.conformance.build import BUILDABLE, UNRELEASED, BuildError, Oracle, build, find_source
from tests.conformance.cases import ANSWERED, OPS
from tests.conformance.report import HEADER, cause_lines, result_lines, split_lines, write_mismatch
from tests.conformance.run import ON_CRD_FILES, OpResult, Pair, asked_of, compared, spread
from tests.conformance.turns import DISRUPTION, asked_turns, turn_lines

SHRUNK_PER_OP = 3


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 identical, 1 a difference that no reason explains, 2 bad input, 3 Go or sources are missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="ask the real Go code and ours the same questions and compare")
    run.add_argument(
        "--cases", type=int, default=2000, help="how many in all, over releases × ops (default %(default)s)"
    )
    run.add_argument("--seed", type=int, default=1, help="another seed gives other cases (default %(default)s)")
    run.add_argument(
        "--ops", default=",".join(ANSWERED), help=f"comma-separated, of {', '.join(OPS)} (default %(default)s)"
    )
    run.add_argument(
        "--shrink",
        type=float,
        default=20,
        metavar="SECONDS",
        help="for each mismatch that is made small (default %(default)s)",
    )
    run.add_argument("--reports", type=Path, default=Path("reports/conformance"), help="where shrunk mismatches go")
    golden = commands.add_parser("golden", help="write the golden vectors that `make test` checks without Go")
    golden.add_argument("--ops", default=",".join(ANSWERED), help="comma-separated (default %(default)s)")
    labels = commands.add_parser(
        "record-labels", help="record what the real Go code does with every label key of the seeds"
    )
    only = commands.add_parser("build", help="build oracles and print their paths")
    turns = commands.add_parser(
        "turns", help="ask the real Go code about the turns of the disruption controller in the worlds of scenarios"
    )
    turns.add_argument(
        "files", nargs="*", type=Path, default=DISRUPTION, help="scenario files (default: scenarios/disruption)"
    )
    turns.add_argument("--most", type=int, default=8, help="turns of one case that are asked (default %(default)s)")
    turns.add_argument("--match", default="", help="only cases whose name has this text")
    turns.add_argument(
        "--reports", type=Path, default=Path("reports/conformance"), help="where questions go that differ"
    )
    for command in (run, golden, labels, only, turns):
        command.add_argument(
            "--releases", default="", help=f"comma-separated, of {', '.join(BUILDABLE)} (default: all with sources)"
        )
    options = parser.parse_args(arguments)
    try:
        releases = _releases(options.releases)
        oracles = [build(release) for release in releases]
    except BuildError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 3
    except ValueError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    if options.command == "build":
        for oracle in oracles:
            print(oracle.path)
        return 0
    if options.command == "record-labels":
        from tests.conformance.recorded_labels import record_labels

        for path in record_labels(oracles):
            print(path)
        return 0
    if options.command == "turns":
        return _turns(oracles, options)
    ops = options.ops.replace(",", " ").split()
    unknown = sorted(set(ops) - set(OPS))
    if unknown or getattr(options, "cases", 1) < 1:
        print(
            f"conformance: unknown op {unknown[0]}; there are {', '.join(OPS)}" if unknown else "conformance: no cases",
            file=sys.stderr,
        )
        return 2
    if options.command == "golden":
        from tests.conformance.golden import write_golden

        write_golden(oracles, ops)
        return 0
    if not any(asked_of(oracle.release, ops) for oracle in oracles):
        print(
            f"conformance: no oracle of {', '.join(each.release for each in oracles)} answers {', '.join(ops)}",
            file=sys.stderr,
        )
        return 2
    return _run(oracles, ops, options)


def _releases(named: str) -> list[str]:
    if named.strip():
        releases = [name.removeprefix("v") for name in named.replace(",", " ").split()]
        for release in releases:
            if release not in (*BUILDABLE, *UNRELEASED):
                raise ValueError(f"no oracle for release {release}; there is one for {', '.join(BUILDABLE)}")
        return releases
    releases = [release for release in BUILDABLE if find_source(release)]
    if not releases:
        raise BuildError("KARPENTER_SOURCES has no release that there is an oracle for: " + ", ".join(BUILDABLE))
    for release in BUILDABLE:
        if release not in releases:
            print(f"{release}: no source in KARPENTER_SOURCES, left out", file=sys.stderr)
    return releases


def _run(oracles: list[Oracle], ops: list[str], options: argparse.Namespace) -> int:
    start = time.monotonic()
    parts = spread(options.cases, [oracle.release for oracle in oracles], ops)
    print(f"{options.cases} cases, seed {options.seed}")
    print("\n".join(split_lines(parts)))
    print(f"\n{HEADER}", flush=True)
    results, again = [], []
    has_engine = find_spec("cel_expr_python") is not None
    for oracle in oracles:
        with Pair(oracle) as pair:
            for op in asked_of(oracle.release, ops):
                count = parts[oracle.release, op]
                results.append(compared(pair, op, count, options.seed))
                _show(pair, results[-1], options)
                if op == ON_CRD_FILES[0] and has_engine:
                    with pair.on_crd_files() as engine:
                        again.append(compared(engine, op, count, options.seed, ON_CRD_FILES[1]))
                        _show(engine, again[-1], options)
    if not has_engine:
        print(f"{ON_CRD_FILES[0]} {ON_CRD_FILES[1]}: left out, the extra `crds` is not installed")
    if again:
        identical, total = sum(result.identical for result in again), sum(result.total for result in again)
        print(f"\n{ON_CRD_FILES[0]} {ON_CRD_FILES[1]} in a CEL engine, the same cases: {identical}/{total} identical")
    identical, total = sum(result.identical for result in results), sum(result.total for result in results)
    print(f"\n{identical}/{total} identical in {time.monotonic() - start:.0f} s")
    return 0 if identical == total and not any(result.mismatches for result in again) else 1


def _turns(oracles: list[Oracle], options: argparse.Namespace) -> int:
    asked = [oracle for oracle in oracles if asked_of(oracle.release, ["disrupt"])]
    code = 0
    for oracle in asked:
        result = asked_turns(oracle, options.files, options.most, options.match)
        print("\n".join(turn_lines(result, options.reports)), flush=True)
        code = code or bool(result.mismatches)
    return int(code)


def _show(pair: Pair, result: OpResult, options: argparse.Namespace) -> None:
    print("\n".join(result_lines(result)), flush=True)
    _explain(pair, result, options)


def _explain(pair: Pair, result: OpResult, options: argparse.Namespace) -> None:
    if not result.mismatches:
        return
    print("\n".join(cause_lines(result)), flush=True)
    if options.shrink <= 0:
        return
    for number, (_, mismatches) in enumerate(result.causes()[:SHRUNK_PER_OP], 1):
        small = pair.shrunk(mismatches[0], options.shrink)
        paths = write_mismatch(
            options.reports, small, f"{result.release}-{result.title or result.op}-{number}".replace(" ", "-")
        )
        print(f"  shrunk, in {paths[0]} and {paths[1].name}:")
        print("\n".join(f"    {line}" for line in paths[1].read_text().splitlines()[:40]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
