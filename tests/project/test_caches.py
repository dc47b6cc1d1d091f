"""No cache grows with what a user writes: each has a bound, or a reason why few keys ever come."""

from __future__ import annotations

import ast
import tracemalloc
from collections.abc import Callable, Iterator, Mapping

import pytest

from fakeazure.arm.errors import ArmError
from fakeazure.arm.ids import resource_id
from fakeazure.arm.versions import check_version
from fakeazure.guids import guid_of
from fakeazure.resources.deployments.template_expressions import evaluate
from fakeazure.routing import router
from tests.project.tree import ROOT, modules, parsed

REASONS: Mapping[str, str] = {
    "fakeazure/arm/routes.py:_about": "patterns of the routing table",
    "fakeazure/catalog/prices/price_file.py:price_file": "None, but for the one region that has a file",
    "fakeazure/catalog/tables.py:read": "files of the package",
    "harness/karpenter/releases/__init__.py:_overlaid": "policies and releases that there are; others are a KeyError",
    "harness/karpenter/releases/sizes.py:gpu_sizes": "lists of the package",
    "harness/karpenter/releases/sizes.py:known_skus": "lists of the package",
    "harness/karpenter/releases/sizes.py:skus_without_price": "lists of the package",
    "harness/karpenter/validation/crds.py:_kinds": "releases that there are; others are a ValueError",
    "harness/karpenter/validation/crds.py:_position": "releases that there are; others are a ValueError",
    "harness/trace/values.py:_shape_of": "classes of records",
}


def caches() -> Iterator[tuple[str, ast.expr]]:
    """Decorators of functools on functions with parameters, and calls of `lru_cache`, by place."""
    for path in modules():
        for node in ast.walk(parsed(path)):
            place = path.relative_to(ROOT).as_posix()
            if isinstance(node, ast.FunctionDef) and (node.args.args or node.args.kwonlyargs):
                for decorator in node.decorator_list:
                    if ast.unparse(decorator).partition("(")[0] in (
                        "cache",
                        "lru_cache",
                        "functools.cache",
                        "functools.lru_cache",
                    ):
                        yield f"{place}:{node.name}", decorator
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
                if ast.unparse(node.func.func) == "lru_cache":
                    yield f"{place}:{node.lineno}", node.func
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "cache":
                yield f"{place}:{node.lineno}", node.func


def bounded(decorator: ast.expr) -> bool:
    """Whether it is `lru_cache` with a number, or with a name for one."""
    if not isinstance(decorator, ast.Call):
        return False
    sizes = [*decorator.args, *(keyword.value for keyword in decorator.keywords if keyword.arg == "maxsize")]
    return len(sizes) == 1 and not (isinstance(sizes[0], ast.Constant) and sizes[0].value is None)


def test_each_cache_has_a_bound_or_a_reason() -> None:
    found = dict(caches())
    assert len(found) > 60
    assert {place for place, decorator in found.items() if not bounded(decorator)} == REASONS.keys()


LONG = 15_000
"""Characters, about as many as a request's target may have."""


def refused_version(text: str) -> None:
    with pytest.raises(ArmError):
        check_version(
            text, namespace="Microsoft.Compute", type_="disks", location="eastus", locations=lambda: ("eastus",)
        )


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda text: router().find("GET", f"/subscriptions/{text}"), id="paths"),
        pytest.param(lambda text: resource_id("s", "g", "n", ("t",), (text,)), id="ids"),
        pytest.param(guid_of, id="guids"),
        pytest.param(lambda text: evaluate(f"[concat({','.join(text[:600])})]", {}), id="expressions"),
        pytest.param(lambda text: refused_version(f"2024-01-01-preview.{text}"), id="versions"),
    ],
)
def test_what_served_clouds_remember_of_requests_is_bounded_in_bytes(use: Callable[[str], object]) -> None:
    texts = (f"{number}" + "0" * LONG for number in range(1000, 1100))
    use("1")
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        for text in texts:
            use(text)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 1 << 20, grown
