"""Objects to test with are made by `harness.testing`, which users have too; a folder of tests has no builders of its own."""

import ast
from collections.abc import Iterator
from pathlib import Path

import harness.testing
from tests.project.tree import ROOT

NAMES = frozenset(harness.testing.__all__)
PARTS = frozenset({"spec", "operator"})

_MODEL = "what the model is given without an API server: a status, and nothing that only the API asks for"
LISTED = {
    "tests/scheduling/workload.py": _MODEL,
    "tests/scheduling/upstream/objects.py": "the defaults of core's own suite, which its cases are copied from",
    "tests/scheduling/upstream/test_nodes.py": "the Nodes of core's own suite, put into its trial",
    "tests/disruption/fleet.py": _MODEL,
    "tests/launch/conftest.py": "NodeClaims as the provisioner makes them, with requirements by short names",
    "tests/capture/cluster.py": "every field has a private word in it, which capture must not let through",
}
"""Builders of their own, and why."""
DRAWN = frozenset({"draw", "random", "scene"})
"""The first parameter of those that draw objects by chance."""


def own_builders(path: Path) -> Iterator[str]:
    """Functions that are called as one of `harness.testing` and write an object themselves."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.name in NAMES
            and not {one.arg for one in node.args.args[:1]} & DRAWN
        ):
            written = {
                key.value
                for each in ast.walk(node)
                if isinstance(each, ast.Dict)
                for key in each.keys
                if isinstance(key, ast.Constant)
            }
            if written & PARTS:
                yield node.name


def test_tests_have_no_builders_of_their_own() -> None:
    files = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "tests").rglob("*.py"))}
    found = {name: names for name, path in files.items() if (names := list(own_builders(path)))}
    assert {name: names for name, names in found.items() if name not in LISTED} == {}
    assert LISTED.keys() - found.keys() == set(), "nothing to list any more"


def test_a_builder_of_its_own_is_found(tmp_path: Path) -> None:
    path = tmp_path / "test_x.py"
    path.write_text(
        "def pod():\n    return {'kind': 'Pod', 'spec': {}}\n\n"
        "def node():\n    return testing.node(cpu='2')\n\n"
        "def other():\n    return {'spec': {}}\n\n"
        "def nodepool(draw, name):\n    return {'spec': {}}\n"
    )
    assert list(own_builders(path)) == ["pod"]
