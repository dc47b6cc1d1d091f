"""The pytest fixture `fake_azure`: Azure for one test, in the place of Azure for every HTTP client.

```
@pytest.mark.fake_azure(region="westeurope", azure={"quota": {"cores": 8}})
def test_scale_out(fake_azure):
    scale_out(fake_azure.credential(), fake_azure.subscription)
    fake_azure.calls.where(method="PUT", resource="virtualMachines").each(zone="2")
```

The mark takes what `mock_azure` takes. A test whose declared faults did not all fire has not shown what it says: it fails.
pytest loads this module by its entry point; it imports nothing of the cloud before a test asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fakeazure.mock import MockAzure


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers", "fake_azure(**world): what the fixture `fake_azure` is made from, as mock_azure() takes it"
    )


@pytest.fixture
def fake_azure(request: pytest.FixtureRequest) -> Iterator[MockAzure]:
    """A world of Azure of this test's own, entered."""
    from fakeazure.mock import mock_azure

    marks = list(request.node.iter_markers("fake_azure"))
    world = {name: value for mark in reversed(marks) for name, value in mark.kwargs.items()}
    with mock_azure(**world) as azure:
        yield azure
    if unfired := azure.cloud.unfired():
        pytest.fail("declared faults never fired: " + "; ".join(map(str, unfired)), pytrace=False)
