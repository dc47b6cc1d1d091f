"""Fixtures that tests of several folders use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.programs.folder import programs


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """Variables under which `harness`, `fakeazure` and `python` are this tree's, forks of a process that has imported them."""
    with programs(tmp_path_factory.mktemp("programs")) as variables:
        yield variables
