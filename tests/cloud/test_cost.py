"""What a world costs, and what it must not touch."""

from __future__ import annotations

import subprocess
import sys

from fakeazure.catalog import Catalogue
from fakeazure.catalog.images import SNAPSHOT
from fakeazure.cloud import FakeAzure
from tests.cloud.driver import Driver


def test_new_world_does_little() -> None:
    """Counted in calls of functions, which are the same on every machine; what regions share is there already."""
    FakeAzure(region="eastus")
    called: list[str] = []
    sys.setprofile(lambda frame, event, argument: called.append(event) if event == "call" else None)
    try:
        FakeAzure(region="eastus", azure={"quota": {"cores": 10}, "faults": [{"what": "AllocationFailed"}]})
    finally:
        sys.setprofile(None)
    assert 10 < len(called) < 1000, len(called)


def test_unrestricted_list_is_the_catalogues_own() -> None:
    cloud = FakeAzure(region="eastus")
    assert cloud.market.skus("eastus") is Catalogue.load().region("eastus").skus
    region = cloud.market.region("eastus")
    assert region is not None
    assert cloud.market.prices.table(region, "eastus") is region.prices


def test_worlds_do_not_share_state() -> None:
    one, two = Driver(), Driver()
    one.put_vm("aks-a")
    one.cloud.publish_image("2404containerd", "202601.01.0")
    one.cloud.market.quota.set_limit("cores", 1)
    assert two.usage("cores") == (0, 1_000_000)
    assert two.get_vm("aks-a").status == 404
    assert len(two.cloud.journal) == 2
    assert two.cloud.market.images.versions("2404containerd", 0.0) == (SNAPSHOT,)


def test_core_imports_nothing_that_serves() -> None:
    code = (
        "import sys, fakeazure.cloud;"
        "print(sorted({'http', 'ssl', 'socket', 'requests', 'responses', 'pydantic', 'yaml', 'urllib.request'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
