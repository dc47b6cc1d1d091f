"""The walls between the packages stand (the contracts are in pyproject.toml), and the default path imports little."""

import subprocess
import sys

import pytest

from tests.project.tree import ROOT

IMPORTED = """
import sys
import {modules}
names = {{name.partition('.')[0] for name in sys.modules}}
ours = ('__main__', 'cython_runtime', '_cython', '_sysconfigdata')  # parts of compiled modules and of the interpreter
print(*sorted(name for name in names if name not in sys.stdlib_module_names and not name.startswith(ours)))
"""

# what pydantic and PyYAML bring along
BOUNDARY = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection", "yaml", "_yaml"}


def test_contracts() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("modules", "allowed"),
    [
        # the protocol and the model behind it run on the standard library alone
        (
            "harness.conformance, harness.conformance.ops.requirements, harness.conformance.ops.instance_types",
            {"harness", "lazyrecords", "plainlines"},
        ),
        ("harness.kube.api.quantity, harness.engine.engine, harness.nodes.kubelet", {"harness", "lazyrecords"}),
        ("fakeazure, fakeazure.cloud", {"fakeazure", "lazyrecords"}),
        # the command line knows its subcommands by name and imports none
        ("harness.cli", {"harness", "lazyrecords", "plainlines"}),
        # files are read with pydantic and PyYAML, and nothing else is needed for the default path
        (
            "harness, harness.cli, harness.world, harness.scenario.running.runner",
            {"harness", "fakeazure", "atomicfiles", "lazyrecords", "plainlines"} | BOUNDARY,
        ),
    ],
    ids=["answer", "model", "fakeazure", "command line", "default path"],
)
def test_import_set(modules: str, allowed: set[str]) -> None:
    code = IMPORTED.format(modules=modules)
    # -S would hide installed packages; -P keeps the tests' folder out
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    # what site-packages starts in every process, before any import of ours
    bare = subprocess.run(
        [sys.executable, "-P", "-c", IMPORTED.format(modules="sys")], capture_output=True, text=True, check=True
    )
    assert set(result.stdout.split()) - set(bare.stdout.split()) <= allowed
