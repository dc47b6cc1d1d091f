"""Kubernetes manifests of a file, with the place of each of their fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.kube.api.kinds import place_of
from harness.kube.api.objects import Key
from harness.reading.documents import Document, documents, read_text
from harness.reading.problems import Mark, Problem, ScenarioError, did_you_mean
from harness.reading.yaml_tree import Scalar
from harness.reading.yaml_values import kubernetes_value
from lazyrecords import dataclass

__all__ = ["Manifest", "manifests_of", "manifests_of_text", "read_manifests"]

_QUOTED = re.compile(r'"([^"]*)"')
_UNSUPPORTED = re.compile(r'Unsupported value: "([^"]*)": supported values: (.*)')


@dataclass(frozen=True, slots=True)
class Manifest:
    """A Kubernetes object of a file; `document` knows where each of its fields stands."""

    document: Document
    kind: str
    namespace: str
    name: str

    @property
    def object(self) -> Mapping[str, Any]:
        """The object as kubectl would send it."""
        value: Mapping[str, Any] = self.document.value
        return value

    @property
    def reference(self) -> str:
        """`Kind/name`, or `Kind/namespace/name` outside of namespace default."""
        return Key(self.kind, self.namespace, self.name).reference

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return kind, namespace (`default` where none is given) and name, which no two objects of a cluster share."""
        return self.kind, self.namespace or "default", self.name

    def quote_hint(self, pointer: Sequence[str | int]) -> str:
        """Return the way to write a text that YAML reads as something else: `N`, `on` and `4` without quotes; empty for
        all other values."""
        node = self.document.node_at(pointer)
        if not isinstance(node, Scalar) or not node.plain or not node.text:
            return ""
        return "" if isinstance(kubernetes_value(node), str) else f'quote it: "{node.text}"'

    def type_hint(self, pointer: Sequence[str | int], message: str) -> str:
        """Return the hint of `quote_hint` where the API server wants a text; a list, or the nearest value, where it
        wants one; else empty."""
        if match_ := _UNSUPPORTED.search(message):
            return did_you_mean(match_[1], _QUOTED.findall(match_[2]), limit=0)
        if (
            "must be of type array" in message
            and isinstance(node := self.document.node_at(pointer), Scalar)
            and node.text
        ):
            return f"write a list: [{node.text if node.plain else json.dumps(node.text)}]"
        return self.quote_hint(pointer) if "must be of type string" in message else ""

    def is_named(self, reference: str) -> bool:
        """Return whether `Kind/name` or `Kind/namespace/name` means this object; `default` is a namespace that is left out."""
        namespace = self.namespace or place_of(self.kind, None)
        return reference in (self.reference, f"{self.kind}/{namespace}/{self.name}")


def read_manifests(path: Path, file: str | None = None) -> tuple[Manifest, ...]:
    """The Kubernetes objects of a manifest file (headers of scenarios in it are passed over)."""
    name = file or str(path)
    return manifests_of_text(read_text(path, name), name)


def manifests_of_text(text: str, name: str) -> tuple[Manifest, ...]:
    """Return the objects of a text that is already read, as `read_manifests` does."""
    read, problems = documents(text, name)
    manifests: list[Manifest] = []
    for document in read:
        if not document.is_header:
            more, issues = manifests_of(document, in_scenario=False)
            manifests += more
            problems += issues
    if not read and not problems:
        problems.append(Problem(Mark(name, 1, 1), "", "the file is empty", "Kubernetes manifests are expected"))
    if problems:
        raise ScenarioError(problems)
    return tuple(manifests)


def manifests_of(document: Document, *, in_scenario: bool) -> tuple[list[Manifest], list[Problem]]:
    """Return the objects of one document, and its problems."""
    result: list[Manifest] = []
    problems: list[Problem] = []
    for item in document.items():
        value = item.value
        if not isinstance(value, dict):
            type_name = "a list" if isinstance(value, list) else "a single value"
            hint = "a scenario begins with 'scenario: NAME'" if in_scenario else ""
            problems.append(Problem(item.position(), "", f"a document is a map, not {type_name}", hint))
            continue
        missing = [key for key in ("apiVersion", "kind") if not isinstance(value.get(key), str) or not value[key]]
        if missing:
            hint = "a document has 'scenario', or is a Kubernetes object"
            if in_scenario and not value.keys() & {"metadata", "spec"}:
                meant = next((guess for key in value if (guess := did_you_mean(key, ["scenario"], limit=0))), "")
                hint = meant or hint
            quoted = " and ".join(f"'{key}'" for key in missing)
            problem = f"neither a scenario nor a Kubernetes object: {quoted} missing"
            problems.append(Problem(item.position(), "", problem, hint))
            continue
        if value["kind"] == "List" and not isinstance(value.get("items"), list):
            problems.append(Problem(item.position(("items",)), "items", "a list is expected"))
            continue
        metadata = value.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not isinstance(name, str) or not name:
            generated = isinstance(metadata, dict) and isinstance(metadata.get("generateName"), str)
            problem = "metadata.name is not a text" if name is not None else "metadata.name is missing"
            hint = "generateName has no name to refer to" if generated else ""
            if isinstance(name, (bool, int, float)):
                hint = Manifest(item, value["kind"], "", "").quote_hint(("metadata", "name"))
            problems.append(Problem(item.position(("metadata", "name")), "metadata.name", problem, hint))
            continue
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        result.append(Manifest(item, value["kind"], namespace if isinstance(namespace, str) else "", name))
    return result, problems
