"""Worlds for tests of real runs: with the real controller where there is one, and with a stand-in that only waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from harness.karpenter.releases import DEFAULT_RELEASE
from harness.world.real.binaries import VARIABLE, binaries
from harness.world.real.process import missing_tools
from harness.world.real.world import RealWorld

NewWorld: TypeAlias = Callable[..., RealWorld]

IDLE = """#!/bin/sh
echo '{"message":"updated spot pricing"}'; echo '{"controller":"provisioner","message":"Starting workers"}'
exec sleep 3600
"""


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if lacking := missing_tools():
        pytest.skip(lacking)
    return tmp_path_factory.mktemp("authority")


@pytest.fixture
def idle_world(authority: Path, tmp_path: Path) -> Iterator[NewWorld]:
    """Worlds whose controller does nothing."""
    program = tmp_path / "karpenter"
    program.write_text(IDLE)
    program.chmod(0o755)
    yield from _worlds(program, authority)


@pytest.fixture
def real_world(authority: Path) -> Iterator[NewWorld]:
    """Worlds with the real controller of the default release. Skips where there is none."""
    binary = binaries().get(DEFAULT_RELEASE)
    if binary is None:
        pytest.skip(f"{VARIABLE} names no controller of {DEFAULT_RELEASE}")
    yield from _worlds(binary, authority)


def _worlds(program: Path, authority: Path) -> Iterator[NewWorld]:
    with ExitStack() as open_worlds:

        def new(**inputs: Any) -> RealWorld:
            return open_worlds.enter_context(RealWorld(program, authority, **inputs))

        yield new
