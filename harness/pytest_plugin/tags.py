"""Tags of scenarios as pytest's markers, for `--markers`, which lists them before anything is collected."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.pytest_plugin.keys import TAGS

__all__ = ["declare_tags"]

_SUFFIXES = (".yaml", ".yml")


def declare_tags(config: pytest.Config) -> None:
    """Declare the tags of all scenario files that the arguments or `testpaths` lead to; files with mistakes are passed over."""
    from harness.reading.documents import documents, read_text
    from harness.reading.problems import ScenarioError
    from harness.sniffing import is_scenario_file

    declared = config.stash.setdefault(TAGS, set())
    for path in _files(config):
        if not is_scenario_file(path):
            continue
        try:
            found, _ = documents(read_text(path), str(path))
        except ScenarioError:
            continue
        for document in found:
            tags = document.value.get("tags") if document.is_header else None
            declared.update(tag for tag in (tags if isinstance(tags, list) else ()) if isinstance(tag, str))
    for tag in sorted(declared):
        config.addinivalue_line("markers", f"{tag}: tag of scenarios")


def _files(config: pytest.Config) -> list[Path]:
    """The YAML files below the arguments, or below pytest's `testpaths` where there are none."""
    found: list[Path] = []
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        inside = path.rglob("*") if path.is_dir() else [path]
        found += sorted(one for one in inside if one.suffix in _SUFFIXES and one.is_file())
    return found
