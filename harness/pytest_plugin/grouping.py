"""Which cases go to the same xdist worker: on real clusters those of one release and provision mode.

A worker's cluster has the CRDs of one release at a time and keeps the machines of earlier cases, so that mixing releases costs time.
Groups are made by the hook that pytest-xdist offers for this, from what the files say; its `xdist_group` loses its marks under pytest 9.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.pytest_plugin.options import release_override

__all__ = ["Groups", "scheduling"]


class Groups:
    """The groups of test ids. What is no case of a scenario file is grouped by its file."""

    def __init__(self, root: Path, release: str | None = None) -> None:
        """`release` replaces that of all cases; then files are groups, or one worker would get everything."""
        self._root = root
        self._release = release
        self._files: dict[str, Mapping[str, str]] = {}

    def of(self, nodeid: str) -> str:
        """The group of a test."""
        file, _, name = nodeid.partition("::")
        if self._release is not None:
            return file
        if file not in self._files:
            self._files[file] = self._groups(file)
        return self._files[file].get(name, file)

    def _groups(self, file: str) -> Mapping[str, str]:
        from harness.karpenter.releases import DEFAULT_RELEASE
        from harness.reading.problems import ScenarioError
        from harness.scenario.language.files import load

        if not file.endswith((".yaml", ".yml")):
            return {}
        try:
            cases = [case for scenario in load(self._root / file, file) for case in scenario.cases]
        except (ScenarioError, OSError):
            return {}
        return {
            case.name: f"{(case.given.karpenter or DEFAULT_RELEASE).removeprefix('v')} {case.given.provision_mode or ''}".strip()
            for case in cases
        }


def scheduling(config: pytest.Config, log: Any) -> Any:
    """pytest-xdist's scheduler of whole groups, with these groups."""
    from xdist.scheduler import LoadScopeScheduling

    groups = Groups(config.rootpath, release_override(config))

    class GroupScheduling(LoadScopeScheduling):
        """Gives a worker one group after the other."""

        def _split_scope(self, nodeid: str) -> str:
            return groups.of(nodeid)

    return GroupScheduling(config, log)
