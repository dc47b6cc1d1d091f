import os

import pytest

# pytester is for tests/plugin; only a top-level conftest may ask for it
pytest_plugins = ("harness.pytest_plugin", "pytester")


def pytest_configure(config: pytest.Config) -> None:
    """Tests in Python are as many as scenarios: a sixth of their time would go into looking for garbage."""
    from harness.pytest_plugin.processes import GarbageSeldom

    config.pluginmanager.register(GarbageSeldom(), "harness-garbage")


@pytest.fixture(scope="session", autouse=True)
def _programs_warn_as_users_see_them() -> None:
    """Take away what `make test` sets for Python itself: the programs that tests start would print its warnings."""
    os.environ.pop("PYTHONWARNDEFAULTENCODING", None)
