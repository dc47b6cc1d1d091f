"""SKU records and prices recorded by the provider's authors."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_FILE = Path(__file__).parents[1] / "data" / "provider" / "skus.json.gz"


@cache
def recorded() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(gzip.decompress(_FILE.read_bytes()))
    return content


@pytest.fixture
def locations() -> dict[str, Any]:
    """``{location: {skus, prices}}``, shared: do not change."""
    return recorded()
