"""`make test-clients`: real clients, each against its own served cloud; prints operations × {works, wrong, missing, left out}.

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
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.clients import coverage, terraform_plans

ROOT = Path(__file__).parents[2]
STATES = ("works", "wrong", "missing", "left out")
JAVA, CLOUD_PROVIDER = "Java SDK", "cloud-provider-azure"


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
        printed = json.loads(process.stdout.readline())
        variables: dict[str, str] = printed["environment"]
        yield {**variables, "FAKEAZURE_HTTP": printed["http"]}
    finally:
        process.terminate()
        process.wait(timeout=30)
        if process.stdout is not None:
            process.stdout.close()


def ask(command: list[str], environment: Mapping[str, str]) -> list[list[str]]:
    """Run a client; one line of JSON for each operation."""
    trusted = {"PYTHONPATH": str(ROOT), "NODE_EXTRA_CA_CERTS": environment["SSL_CERT_FILE"]}
    done = subprocess.run(
        command, cwd=ROOT, env={**environment, **trusted}, capture_output=True, text=True, check=False
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        rows.append([command[-1], "the client itself", "missing", last])
    return rows


def journal(variables: Mapping[str, str]) -> list[dict[str, Any]]:
    """The calls that a served cloud remembers."""
    with urllib.request.urlopen(f"{variables['FAKEAZURE_HTTP']}/_fakeazure/journal", timeout=60) as answer:
        calls: list[dict[str, Any]] = json.load(answer)["calls"]
    return calls


def java_command(jars: Path) -> list[str] | str:
    """The command that runs the Java program from its source, or what it misses."""
    if not jars.exists():
        return f"{jars} is not there: make test-clients makes it with Maven"
    for program in ("java", "javac"):  # java alone, of a runtime, does not run a program from its source
        if shutil.which(program) is None:
            return f"{program} is not in PATH: a JDK, 17 or newer, is needed"
    return ["java", "-cp", f"{jars}/*", str(ROOT / "tests" / "clients" / "java" / "Suite.java")]


def clients(venv: Path, folder: Path) -> Iterator[tuple[str, list[str] | str]]:
    """(client, command that runs it, or what it misses)."""
    made = "is not there: make test-clients makes it"
    for client, folder_name, module in (
        ("Python SDKs", "sdks", "tests.clients.python_sdks"),
        ("az CLI", "az", "tests.clients.az_cli"),
        ("az documentation", "az", "tests.clients.az_documentation"),
        ("Karpenter's guide", "az", "tests.clients.az_karpenter"),
    ):
        python = venv / folder_name / "bin" / "python"
        yield client, [str(python), "-m", module, str(folder / module)] if python.exists() else f"{python} {made}"
    scripts = venv / "javascript"
    command = ["node", str(scripts / "suite.mjs")]
    yield "JavaScript SDKs", command if (scripts / "node_modules").exists() else f"{scripts / 'node_modules'} {made}"
    yield JAVA, java_command(venv / "java" / "jars")
    program = ROOT / "tests" / "clients" / "go"
    yield "Go SDK", ["go", "-C", str(program), "run", "."] if shutil.which("go") else "Go is not in PATH"
    binary = venv / "cloud_provider" / "cloud-provider"
    compiled = "is not there: make cloud-provider-client compiles it"
    yield CLOUD_PROVIDER, [str(binary)] if binary.exists() else f"{binary} {compiled}"
    plans = [sys.executable, "-m", "tests.clients.terraform_plans", str(folder / "terraform")]
    needed = terraform_plans.needed(os.environ, venv / "terraform")
    yield terraform_plans.CLIENT, needed if isinstance(needed, str) else [*plans, *needed]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv-clients")
    parser.add_argument("--only", action="append", help="a client by its name")
    parser.add_argument("--require", action="store_true", help="a client that is not installed is a failure")
    parser.add_argument("--coverage", type=Path, metavar="FILE", help="keep the operations that were asked for in FILE")
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
            with served(folder / "".join(filter(str.isalnum, client))) as variables:
                rows = ask(
                    command,
                    {**os.environ, **variables},
                )
                calls = journal(variables) if options.coverage else []
            counts = Counter(row[2] for row in rows)
            if options.coverage:
                coverage.write(
                    {client: {"counts": dict(counts), "operations": coverage.operations(calls)}}, options.coverage
                )
            told = ", ".join(f"{counts[state]} {state}" for state in ("works", "wrong", "missing", "left out"))
            print(f"{client}: {len(rows)} operations: {told}")
            for _, operation, state, said, *_ in rows:
                if state != "works" or options.all:
                    print(f"  {state:<8} {operation}" + (f": {said}" if said else ""))
            bad += counts["wrong"] + counts["missing"]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
