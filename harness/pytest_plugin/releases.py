"""`--only-release`: the cases that are about a release, so that a matrix of runs can divide a corpus that names its own releases."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.keys import runner_of
from harness.pytest_plugin.options import only_releases

__all__ = ["select_releases"]


def select_releases(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in `items` the cases of these releases, and what is no scenario. A case that names none is about the newest default."""
    wanted = only_releases(config)
    if wanted is None:
        return
    from harness.karpenter.releases import base_of

    shared = runner_of(config).shared

    def stays(item: pytest.Item) -> bool:
        case = getattr(item, "case", None)
        return case is None or base_of(shared.idle_world(case).release) in wanted

    others = [item for item in items if not stays(item)]
    items[:] = [item for item in items if stays(item)]
    config.hook.pytest_deselected(items=others)
