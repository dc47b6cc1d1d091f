"""Whom the trials of core's cases ask: this project's scheduler, whose answers have to be those recorded from the real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.asking import Asker, asker
from tests.scheduling.upstream.cloud import CATALOGS
from tests.scheduling.upstream.objects import nodepool
from tests.scheduling.upstream.trial import Trial


@pytest.fixture
def ask(request: pytest.FixtureRequest) -> Asker:
    """Asks a request of the protocol; see asking.py."""
    return asker(request.config)


@pytest.fixture
def trial(ask: Asker) -> Callable[..., Trial]:
    """Makes an empty cluster: ``trial(*nodepools, **fields of Trial)``, with one plain NodePool when none is given."""

    def make(*pools: dict[str, Any], **fields: Any) -> Trial:
        assert not isinstance(fields.get("types"), str) or fields["types"] in CATALOGS
        return Trial(ask, list(pools) or [nodepool()], **fields)

    return make
