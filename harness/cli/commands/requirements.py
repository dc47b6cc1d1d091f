"""`harness requirements`: what Karpenter computes for a VM size, alone or within a NodePool."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.manifests import add_options, options_given
from harness.cli.output import add_format, bad_input, display_name, print_json
from harness.cli.worlds import add_as_of
from plainlines import print_line

if TYPE_CHECKING:
    from harness.karpenter.cloudprovider import InstanceType
    from harness.karpenter.requirements import Requirements
    from harness.world import World

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness requirements`."""
    from harness.karpenter.releases import DEFAULT_RELEASE

    parser.add_argument("--size", required=True, metavar="S", help="VM size, for example Standard_D4s_v5")
    parser.add_argument("--region", default="eastus", metavar="R", help="Azure region (default %(default)s)")
    parser.add_argument(
        "--release", default=DEFAULT_RELEASE, metavar="R", help="release of the provider (default %(default)s)"
    )
    add_as_of(parser)
    parser.add_argument("--nodepool", type=Path, metavar="FILE", help="file with the NodePool to compute it for")
    parser.add_argument("--nodeclass", type=Path, metavar="FILE", help="file with the AKSNodeClass to compute it with")
    add_options(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the instance type, or the filter that drops the size (exit code 0 as well); 2 for names that do not exist."""
    from harness.cli.worlds import InputError, check_size, create_world
    from harness.explain.sizes.fit import Misfit, within
    from harness.explain.sizes.guesses import guesses_of, of_size
    from harness.karpenter.cloudprovider import DroppedSize
    from harness.reading.problems import ScenarioError

    try:
        azure = {"asOf": arguments.as_of} if arguments.as_of is not None else None
        options = options_given(arguments) or None
        world = create_world(karpenter=arguments.release, region=arguments.region, options=options, azure=azure)
        check_size(world, arguments.size)
        nodepool, nodeclass = _objects({"NodePool": arguments.nodepool, "AKSNodeClass": arguments.nodeclass}, world)
        result = world.requirements_of(arguments.size, nodepool, nodeclass)
    except InputError as error:
        _tell_mistakes(arguments)
        return bad_input(f"harness requirements: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    value: dict[str, Any] = {
        "size": arguments.size,
        "region": world.region,
        "release": world.release.version,
        "dropped": None,
    }
    if isinstance(result, DroppedSize):
        value["dropped"] = {"filter": result.filter, **{name: _plain(fact) for name, fact in result.details.items()}}
    else:
        requirements = result.requirements
        if nodepool is not None:
            fit = within(nodepool, requirements, world.release.vocabulary)
            value["nodepool"] = nodepool["metadata"]["name"]
            value["incompatible"] = fit.text if isinstance(fit, Misfit) else None
            if not isinstance(fit, Misfit):
                requirements = fit
        value |= _instance_type(result, requirements)
    value["prices"] = _prices(world, arguments.size)
    value["guessed"] = guesses_of(world, [of_size(world, arguments.size)]).get(arguments.size, {})
    if arguments.format == "json":
        print_json(value)
    else:
        _print(value)
    return 0


def _tell_mistakes(arguments: argparse.Namespace) -> None:
    """Print the mistakes of the files, where something is wrong with the options."""
    from harness.cli.given import read_files
    from harness.reading.problems import ScenarioError

    try:
        read_files([*dict.fromkeys(path for path in (arguments.nodepool, arguments.nodeclass) if path is not None)])
    except ScenarioError as error:
        bad_input(error)


def _objects(paths: Mapping[str, Path | None], world: World) -> list[Mapping[str, Any] | None]:
    """The object of each kind from its file, admitted by the API server so that it has its defaults; None without a file.

    Raises ScenarioError with every mistake of the files, of other objects in them too.
    """
    from harness.reading.problems import Problem, ScenarioError

    objects: list[Mapping[str, Any] | None] = []
    problems: list[Problem] = []
    for kind, path in paths.items():
        try:
            objects.append(_object(path, kind, world) if path is not None else None)
        except ScenarioError as error:
            problems += (problem for problem in error.problems if problem not in problems)
    if problems:
        raise ScenarioError(problems)
    return objects


def _object(path: Path, kind: str, world: World) -> Mapping[str, Any] | None:
    from harness.cli.given import read_files
    from harness.reading.problems import Mark, Problem, ScenarioError
    from harness.scenario.language.dumps import as_new

    manifests = [manifest for manifest in read_files([path]).manifests if manifest.kind == kind]
    if len(manifests) != 1:
        text = f"one {kind} is expected, found {len(manifests)}"
        raise ScenarioError([Problem(Mark(display_name(path), 1, 1), "", text)])
    (manifest,) = manifests
    rejections = world.apply(as_new(manifest.object))
    if rejections:
        raise ScenarioError(
            Problem(manifest.document.position(rejection.pointer), str(rejection.layer), rejection.text)
            for rejection in rejections
        )
    return world.get(kind, manifest.name)


def _plain(fact: Any) -> Any:
    if isinstance(fact, (list, tuple, set, frozenset)):
        return [_plain(item) for item in fact]
    return fact if isinstance(fact, (str, int, float, bool)) or fact is None else str(fact)


def _instance_type(instance_type: InstanceType, requirements: Requirements) -> dict[str, Any]:
    from harness.kube.api.resources import render

    return {
        "requirements": {key: _requirement(requirements, key) for key in sorted(requirements)},
        "capacity": render(instance_type.capacity),
        "overhead": {
            "kubeReserved": render(instance_type.overhead.kube_reserved),
            "systemReserved": render(instance_type.overhead.system_reserved),
            "evictionThreshold": render(instance_type.overhead.eviction_threshold),
        },
        "allocatable": render(instance_type.allocatable),
        "offerings": [
            {
                "zone": offering.zone,
                "capacityType": offering.capacity_type,
                "price": offering.price,
                **({"unpriced": True} if offering.unpriced else {}),
                "available": offering.available,
            }
            for offering in instance_type.offerings
        ],
    }


def _requirement(requirements: Requirements, key: str) -> dict[str, Any]:
    requirement = requirements[key]
    value: dict[str, Any] = {"operator": str(requirement.operator), "values": sorted(requirement.values)}
    for name in ("gte", "lte", "min_values"):
        bound = getattr(requirement, name)
        if bound is not None:
            value["minValues" if name == "min_values" else name] = bound
    return value


def _prices(world: World, size: str) -> dict[str, Any]:
    """Return by capacity type Azure's price, its record, why it is a guess, and the rows of which Karpenter takes one."""
    from harness.explain.sizes.believed import at_risk
    from harness.karpenter.labels.core import ON_DEMAND, SPOT
    from harness.world.costs.commitments import commitments_of

    risks = {(risk.size, risk.capacity_type): risk for risk in at_risk(world)}
    value: dict[str, Any] = {}
    for capacity_type in (ON_DEMAND, SPOT):
        price = world.price(size, capacity_type)
        if price.usd is not None and not price.as_on_demand:
            value[capacity_type] = {"usd": price.usd, "source": price.source, "guess": price.guess}
            if capacity_type == ON_DEMAND:
                terms = commitments_of(world.cloud.market, world.region, size, price.usd)
                value[capacity_type] |= {"reserved": terms.reserved, "savings_plan": terms.savings} if terms else {}
            if (risk := risks.get((size, capacity_type))) is not None:
                value[capacity_type] |= {"rows": list(risk.rows), "rows_guess": risk.guess}
    return value


def _price_lines(prices: Mapping[str, Any]) -> Iterator[str]:
    from harness.trace.prices import hourly

    for capacity_type, price in prices.items():
        basis = f"guessed: {price['guess']}" if price["guess"] else price["source"]
        yield f"  {capacity_type:10} {hourly(price['usd'])} USD/h ({basis})"
        for kind, words in (("reserved", "reserved"), ("savings_plan", "with a savings plan")):
            if price.get(kind):
                terms = ", ".join(f"{hourly(usd)} for {term.lower()}" for term, usd in price[kind].items())
                yield f"  {'':10} {words} {terms}"
        if "rows" in price:
            guess = f" (guessed: {price['rows_guess']})" if price["rows_guess"] else ""
            believed = " or ".join(map(hourly, price["rows"]))
            yield f"  {'':10} Karpenter believes {believed}: the price list has several rows for it{guess}"


def _print(value: Mapping[str, Any]) -> None:
    from harness.trace.prices import price_text

    print_line(f"{value['size']} in {value['region']}, provider {value['release']}")
    if value["dropped"] is not None:
        details = ", ".join(f"{name}: {fact}" for name, fact in value["dropped"].items() if name != "filter")
        print_line(f"dropped by the filter {value['dropped']['filter']}" + (f" ({details})" if details else ""))
        _print_guesses(value)
        return
    if value.get("incompatible"):
        print_line(f"NodePool {value['nodepool']} does not allow it: {value['incompatible']}")
    print_line("requirements")
    width = max(map(len, value["requirements"]))
    for key, requirement in value["requirements"].items():
        bounds = "".join(
            f" {sign}{requirement[name]}" for name, sign in (("gte", ">="), ("lte", "<=")) if name in requirement
        )
        values = f" [{', '.join(requirement['values'])}]" if requirement["values"] else ""
        print_line(f"  {key:{width}}  {requirement['operator']}{values}{bounds}")
    for name in ("capacity", "allocatable"):
        print_line(name)
        print_line("  " + ", ".join(f"{key} {quantity}" for key, quantity in value[name].items()))
    print_line("offerings, at the prices that Karpenter believes")
    for offering in value["offerings"]:
        state = "" if offering["available"] else "  not available"
        price = price_text(offering["price"], unpriced="unpriced" in offering)
        print_line(f"  {offering['zone']:20} {offering['capacityType']:10} {price}{state}")
    print_line("Azure bills")
    for line in _price_lines(value["prices"]):
        print_line(line)
    _print_guesses(value)


def _print_guesses(value: Mapping[str, Any]) -> None:
    from harness.explain.sizes.guesses import guess_lines

    for line in guess_lines({value["size"]: value["guessed"]}, value["region"]):
        print_line(line)
