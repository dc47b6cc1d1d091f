"""What has a name is written in one place: label keys, the default release, the gallery's subscription."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.karpenter.labels import azure, core
from harness.karpenter.releases import DEFAULT_RELEASE, GALLERY_SUBSCRIPTION
from harness.kube.api import labels
from tests.project.tree import ROOT

HOMES = {"harness/kube/api/labels.py", "harness/karpenter/labels/core.py", "harness/karpenter/labels/azure.py"}
# below the keys of Karpenter and Azure; what they say of them they say of objects in general
BELOW = ("harness/kube/", "harness/nodes/")

KEYS = {
    value
    for module in (labels, core, azure)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str) and "/" in value
}
OF_KUBERNETES = {value for name, value in vars(labels).items() if name.isupper()}


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _retyped(texts: set[str], *homes: str) -> list[str]:
    found = []
    for path in sorted((ROOT / "harness").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(homes):
            found += [f"{name}:{line}: {text}" for line, text in _texts(path) if text in texts]
    return found


def test_label_keys_are_named() -> None:
    assert len(KEYS) > 60
    assert _retyped(OF_KUBERNETES, *HOMES) == []
    assert _retyped(KEYS - OF_KUBERNETES, *HOMES, *BELOW) == []


@pytest.mark.parametrize("text", [GALLERY_SUBSCRIPTION, DEFAULT_RELEASE])
def test_constants_are_named(text: str) -> None:
    # what a release is built of stands under its own version; the pages of the documentation compare two by name
    homes = ("harness/karpenter/releases/",)
    assert _retyped({text}, *homes, "harness/explain/label_pages.py") == []
