"""A project with the plugin, in a folder of its own."""

from __future__ import annotations

import pytest


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyprojecttoml('[tool.pytest]\nstrict = true\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest('pytest_plugins = ("harness.pytest_plugin",)\n')
    return pytester
