"""The names that `import harness` and `import fakeazure` offer are explicit, documented by `help()`, and on a current page."""

import inspect
import pydoc
import re
from typing import Any

import pytest

import fakeazure
import harness
from fakeazure.beginning import Inputs as CloudInputs
from harness.world.settings import Inputs as WorldInputs
from tools import python_reference

FACES = [harness.World, fakeazure.FakeAzure]


def test_the_page_is_current() -> None:
    assert python_reference.main(["--check"]) == 0, "python -m tools.python_reference"


@pytest.mark.parametrize("face", FACES)
def test_each_argument_is_given_by_name_and_explained(face: type[Any]) -> None:
    parameters = inspect.signature(face).parameters
    assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    explained = re.findall(r"`(\w+)`", inspect.getdoc(face) or "")
    assert set(parameters) - set(explained) == set()
    assert [name for name in parameters if name not in pydoc.render_doc(face)] == []


@pytest.mark.parametrize("face", FACES)
def test_an_argument_of_another_name_is_refused(face: type[Any]) -> None:
    with pytest.raises(TypeError, match="'regio'"):
        face(regio="eastus")


def test_what_a_world_and_a_cloud_begin_from_are_their_arguments() -> None:
    def arguments(face: type[Any]) -> set[str]:
        return {*inspect.signature(face).parameters}

    assert arguments(harness.World) - {"cluster", "simulated", "clock"} == {*WorldInputs.__annotations__}
    assert arguments(fakeazure.FakeAzure) - {"journal"} == {*CloudInputs.__annotations__}


@pytest.mark.parametrize("region", ["EastUS", "East US", "eastus"])
def test_a_region_has_one_name_inside_however_it_is_written(region: str) -> None:
    world = harness.World(region=region)
    assert (world.region, world.cloud.state.settings.location, fakeazure.FakeAzure(region=region).vms()) == (
        "eastus",
        "eastus",
        [],
    )


@pytest.mark.parametrize("package", [harness, fakeazure])
def test_a_package_shows_what_it_offers_and_nothing_else(package: Any) -> None:
    assert dir(package) == sorted(package.__all__)
    assert package.__version__ == harness.__version__


def test_what_methods_return_can_be_named() -> None:
    world = harness.World()
    assert isinstance(world.settle(), harness.Settled)
    (rejection,) = world.apply(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "UPPER", "namespace": "default"}}
    )[:1]
    assert isinstance(rejection, harness.Rejection)
