"""Nothing reads the wall clock or draws at random but the modules that inject time and randomness."""

import ast

import pytest

from tests.project.tree import ROOT, modules, parsed

SOURCES = {"random", "secrets", "time", "uuid"}  # modules that must not be imported
CALLS = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"), ("os", "urandom")}

# path → what it may use, and why
EXEMPT: dict[str, tuple[set[str], str]] = {
    "harness/engine/rng.py": ({"random"}, "the seeded Rng itself"),
    "harness/cli/commands/run.py": ({"time"}, "how long a run took, for its last line"),
    "harness/cli/run_cases.py": ({"time"}, "when a run that takes long tells how far it is"),
    "harness/cli/repeating.py": ({"time"}, "the pause before a live cluster is asked again"),
    "harness/sweep/dask.py": ({"time"}, "how long workers of another process are waited for"),
    "harness/cli/commands/sweep.py": ({"time"}, "how long a sweep took, for its first line"),
    "harness/pytest_plugin/processes.py": ({"time"}, "how long a case took, for reports"),
    "harness/scenario/running/runner.py": ({"time"}, "how long a case took, for reports"),
    "harness/clusters/waiting.py": ({"time"}, "deadlines on real servers, which have clocks of their own"),
    "harness/world/real/wall.py": ({"time"}, "a world that a real controller works in follows the wall clock"),
    "fakeazure/transports/live.py": ({"time"}, "a served cloud's clock follows the wall clock"),
    "fakeazure/transports/guard.py": ({"secrets"}, "the secret of a served cloud, which nobody may guess"),
    "fakeazure/transports/http1.py": ({"time"}, "deadlines of real connections"),
    "fakeazure/transports/server.py": ({"time"}, "how long a refused client is listened to"),
}


def used(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.partition(".")[0] in SOURCES}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module in SOURCES:
            found.add(node.module)
        elif isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if (name, node.attr) in CALLS:
                found.add(f"{name}.{node.attr}")
    return found


def test_time_and_randomness_are_injected() -> None:
    reads = {}
    for path in modules():
        name = str(path.relative_to(ROOT))
        allowed, _ = EXEMPT.get(name, (set(), ""))
        reads[name] = used(parsed(path)) - allowed
    assert {name: found for name, found in reads.items() if found} == {}


@pytest.mark.parametrize("name", EXEMPT)
def test_exemptions_are_needed(name: str) -> None:
    assert used(parsed(ROOT / name)) == EXEMPT[name][0]


@pytest.mark.parametrize(
    "code",
    [
        "import time",
        "from random import choice",
        "import uuid as ids",
        "datetime.now()",
        "x = datetime.datetime.utcnow()",
        "date.today()",
    ],
)
def test_the_test_sees(code: str) -> None:
    assert used(ast.parse(code))
