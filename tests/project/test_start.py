"""What a command imports before it does anything costs everybody, every time."""

import json
import re
import subprocess
import sys

from tests.project.tree import ROOT

DEFAULT_PATH = """
import json, sys
import harness.cli.commands.run, harness.cli.run_cases, harness.reports.terminal, harness.scenario.running.runner, harness.world
ours = [module for name, module in sys.modules.items() if name.partition(".")[0] in ("harness", "fakeazure")]
print(json.dumps(sorted(module.__file__ for module in ours if module.__file__)))
"""


def test_records_of_the_default_path_are_lazy() -> None:
    """A record of the standard library takes four times as long to define."""
    done = subprocess.run([sys.executable, "-c", DEFAULT_PATH], cwd=ROOT, capture_output=True, text=True, check=True)
    eager = [
        path
        for path in json.loads(done.stdout)
        if re.search(r"^from dataclasses import .*\bdataclass\b", (ROOT / path).read_text(encoding="utf-8"), re.M)
    ]
    assert eager == [], "from lazyrecords import dataclass"


ONE_FILE = """
import sys
from harness.scenario.language.files import load_text
load_text("scenario: one\\nthen:\\n  - nodeclaims: {count: 0}\\n", file="one.yaml")
models = "harness.scenario.language.models."
print(*sorted(name.removeprefix(models) for name in sys.modules if name.startswith(models)))
homes = "harness.scenario.expectations."
print(*sorted(name.removeprefix(homes) for name in sys.modules if name.startswith(homes)), file=sys.stderr)
"""


def test_a_scenario_file_imports_the_models_of_its_own_keys() -> None:
    done = subprocess.run([sys.executable, "-c", ONE_FILE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "base",
        "expectations",
        "given",
        "header",
        "loads",  # the type of a value rather than a model, which could be left for later
        "matchers",
        "steps",
    ]
    assert done.stderr.split() == ["failure", "matching", "nodeclaims", "pods", "requirement_match", "verdicts"]
