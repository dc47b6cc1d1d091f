"""A kubeconfig as text that kubectl reads as it was meant; apart, so that only who asks for credentials loads PyYAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

__all__ = ["kubeconfig_text"]

_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_LETTER = re.compile(r"[A-Za-z]")


class _Quoted(yaml.SafeDumper):
    """YAML with double quotes around every text that a reader of YAML 1.1 or 1.2 could take for a boolean, a number or a null."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # go-yaml v2 resolve.go, which kubectl reads with: what begins with a letter is a text unless it is one of these words
    plain = _LETTER.match(text) is not None and text.lower() not in _WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Quoted.add_representer(str, _text)


def kubeconfig_text(document: Mapping[str, Any]) -> str:
    """Return a kubeconfig block by block, its keys in alphabetical order."""
    written: str = yaml.dump(document, Dumper=_Quoted)
    return written
