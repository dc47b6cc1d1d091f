"""Scenarios as text: a header and objects, in the YAML that is read back as the same values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from harness.reading.yaml_values import resolve

__all__ = ["scenario_text"]

_WIDTH = 140


def scenario_text(header: Mapping[str, Any], objects: Iterable[Mapping[str, Any]]) -> str:
    """A scenario file of one header and its objects, keys in their order."""
    documents = [header, *objects]
    return "---\n".join(
        yaml.dump(one, Dumper=_Plain, sort_keys=False, width=_WIDTH, allow_unicode=True, default_flow_style=None)
        for one in documents
    )


class _Plain(yaml.SafeDumper):
    """YAML as Kubernetes reads it: without anchors, and with quotes around every text that it would take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """Every value is written where it stands."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = text != "" and resolve(text) == text and isinstance(resolve(text), str)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Plain.add_representer(str, _text)
