"""`make test-clients`: real clients against one served cloud, and the table of operations × {works, wrong, missing}.

Each client runs in its own process and Python; what is not installed is named in one line and left out. `--require` makes that a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def served(folder: Path) -> Iterator[dict[str, str]]:
    """A served cloud: the variables that it prints."""
    command = [
        sys.executable,
        "-m",
        "fakeazure",
        "serve",
        "--http-port",
        "0",
        "--https-port",
        "0",
        "--speed",
        "10",
        "--format",
        "json",
    ]
    process = subprocess.Popen([*command, "--state", str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found: dict[str, str] = json.loads(process.stdout.readline())["environment"]
        yield found
    finally:
        process.terminate()
        process.wait(timeout=30)


def ask(command: list[str], environment: Mapping[str, str]) -> list[list[str]]:
    """Run a client; one line of JSON for each operation."""
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        rows.append([command[-1], "the client itself", "missing", last])
    return rows


def clients(venv: Path, folder: Path) -> Iterator[tuple[str, list[str] | str]]:
    """(client, command that runs it, or what it misses)."""
    made = "is not there: make test-clients makes it"
    for client, folder_name, module in (
        ("Python SDKs", "sdks", "tests.clients.python_sdks"),
        ("az CLI", "az", "tests.clients.az_cli"),
    ):
        python = venv / folder_name / "bin" / "python"
        yield client, [str(python), "-m", module, str(folder)] if python.exists() else f"{python} {made}"
    program = ROOT / "tests" / "clients" / "go"
    yield "Go SDK", ["go", "-C", str(program), "run", "."] if shutil.which("go") else "Go is not in PATH"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv-clients")
    parser.add_argument("--only", action="append", help="a client by its name")
    parser.add_argument("--require", action="store_true", help="a client that is not installed is a failure")
    parser.add_argument("--all", action="store_true", help="show the operations that work, too")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="fakeazure-clients-") as name:
        folder = Path(name)
        for client, command in clients(options.venv.absolute(), folder):
            if options.only and client not in options.only:
                continue
            if isinstance(command, str):
                print(f"{client}: left out: {command}")
                bad += options.require
                continue
            with served(folder / client.replace(" ", "-")) as variables:
                rows = ask(command, {**os.environ, "PYTHONPATH": str(ROOT), **variables})
            counts = Counter(row[2] for row in rows)
            told = ", ".join(f"{counts[state]} {state}" for state in ("works", "wrong", "missing"))
            print(f"{client}: {len(rows)} operations: {told}")
            for _, operation, state, said, *_ in rows:
                if state != "works" or options.all:
                    print(f"  {state:<8} {operation}" + (f": {said}" if said else ""))
            bad += counts["wrong"] + counts["missing"]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
