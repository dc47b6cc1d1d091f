"""CRD files in a real CEL engine give the verdicts, paths and texts of the real API server's code, as our tables do.

The files are written from the tables here; `make conformance` asks the same with the releases' own files.
"""

import json
from pathlib import Path

import pytest

from harness.clusters.control_plane.crds import crd_manifests
from harness.clusters.crd_files import CrdFiles
from harness.conformance import AnswerContext
from harness.karpenter.releases import provider
from harness.karpenter.validation import crd_set
from tests.conformance.build import BUILDABLE
from tests.conformance.golden import GOLDEN, vectors
from tests.conformance.test_golden import wrong_answers_of

pytest.importorskip("cel_expr_python")

SAMPLE = 4  # every fourth vector: seven releases share most of their rules


@pytest.mark.parametrize("release", BUILDABLE)
def test_files_are_judged_as_the_real_code_judges(release: str, tmp_path: Path) -> None:
    for definition in crd_manifests(crd_set(release)):
        (tmp_path / f"{definition['metadata']['name']}.yaml").write_text(json.dumps(definition))
    lines = list(vectors(GOLDEN / f"v{release}" / "validate_nodepool.jsonl.gz"))
    sample = lines if release == BUILDABLE[-1] else lines[BUILDABLE.index(release) % SAMPLE :: SAMPLE]
    context = AnswerContext(provider(release), crds=CrdFiles(tmp_path))
    assert wrong_answers_of(sample, context) == []
