"""The syntax of all modules, which is shared by the tests of this folder, takes 250 MB and goes with the last of them."""

from collections.abc import Iterator

import pytest

from tests.project.tree import parsed


@pytest.fixture(scope="package", autouse=True)
def _syntax_goes_with_the_folder() -> Iterator[None]:
    yield
    parsed.cache_clear()
