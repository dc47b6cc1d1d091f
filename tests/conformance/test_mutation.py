"""A fault in the algebra does not go unnoticed: the run finds it and makes it small.

Both sides are ours here, and one of them is broken on purpose; `make conformance` has the real code on the other side.
"""

import sys
from pathlib import Path

import pytest
import yaml

from tests.conformance.build import Oracle
from tests.conformance.golden import GOLDEN, vectors
from tests.conformance.material import Material, read_json
from tests.conformance.report import write_mismatch
from tests.conformance.run import Pair, compared
from tests.conformance.shrink import size

TRUE = f"#!{sys.executable}\nimport sys\nfrom harness.__main__ import main\nsys.exit(main(['dev', 'answer', '--release', '1.14.0']))\n"

BROKEN = """
import sys
from harness.__main__ import main
{fault}
sys.exit(main(["dev", "answer", "--release", "1.14.0"]))
"""

FAULTS = {
    "requirements": """
from harness.karpenter.requirement import Requirement
right = Requirement.has
Requirement.has = lambda self, value: right(self, value) and not (self.gte is not None and value == str(self.gte))
""",
    "validate_nodepool": """
import harness.karpenter.validation.admission as admission
right = admission.admit_custom_resource
def lax(resource, obj, **more):
    spec = {key: value for key, value in (obj.get("spec") or {}).items() if key != "weight"}
    return right(resource, {**obj, "spec": spec}, **more)
admission.admit_custom_resource = lax
""",
    "disrupt": """
import harness.karpenter.disruption.methods.replacing as replacing
right = replacing.cheaper
replacing.cheaper = lambda planned, price: right(planned, price + 1e-9)  # at most as dear, not cheaper
""",
}

#: how many values the smallest request still needs at most: an object of a cluster has some
SMALL = {"requirements": 20, "validate_nodepool": 20, "disrupt": 200}


@pytest.mark.parametrize("op", FAULTS)
def test_a_fault_is_found_and_made_small(op: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    true, broken = tmp_path / "true", tmp_path / "broken.py"
    true.write_text(TRUE)
    true.chmod(0o755)
    broken.write_text(BROKEN.format(fault=FAULTS[op]))
    requests = [{**vector["input"], "op": op} for vector in vectors(GOLDEN / "v1.14.0" / f"{op}.jsonl.gz")]
    monkeypatch.setattr("tests.conformance.run.draw_cases", lambda *_: requests)
    material = Material("1.14.0", "1.14.0", read_json(GOLDEN / "v1.14.0" / "data.json.gz"), [], {}, {})
    with Pair(Oracle("1.14.0", true), [sys.executable, str(broken)], material) as pair:
        result = compared(pair, op, len(requests), 1)
        assert 0 < len(result.mismatches) < result.total
        small = pair.shrunk(result.causes()[0][1][0], 300)  # a busy machine needs more than the usual seconds
    assert size(small.request) <= SMALL[op]
    vector, text = write_mismatch(tmp_path / "reports", small, "found")
    assert list(vectors(vector)) == [small.vector()]
    documents = list(yaml.safe_load_all(text.read_text()))
    if op == "validate_nodepool":
        assert "scenario" in documents[0]
    else:
        assert documents == [small.request]
