"""Each flag of a release says what it does, and where in the sources: of itself, or of the record that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.karpenter import releases

HERE = Path(releases.__file__).parent
RECORDS = {
    "core_release.py": ("CoreRelease",),
    "model.py": tuple(
        f"{about}Flags" for about in ("InstanceType", "Label", "NodeClass", "Launch", "Boot", "Failure", "Drift")
    ),
    "scheduling.py": ("SchedulingRules",),
    "disruption.py": ("DisruptionRules",),
}


def flags(record: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Each field of a record with the text under it, empty where there is none."""
    for field, below in zip(record.body, [*record.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign):
            text = below.value if isinstance(below, ast.Expr) else None
            yield ast.unparse(field.target), str(text.value) if isinstance(text, ast.Constant) else ""


@pytest.mark.parametrize("file", RECORDS)
def test_flags_have_texts_and_sources(file: str) -> None:
    classes = {node.name: node for node in ast.parse((HERE / file).read_text()).body if isinstance(node, ast.ClassDef)}
    for name in RECORDS[file]:
        found = dict(flags(classes[name]))
        assert len(found) > 3
        assert [flag for flag, text in found.items() if not text] == []
        assert "pkg/" in (ast.get_docstring(classes[name]) or ""), name
