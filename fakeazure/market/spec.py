"""A market from plain data: the `azure:` block of a scenario, or a file given to `fakeazure serve`.

```
preset: restricted-2023
quota: {cores: 10, lowPriorityCores: 100, standardDSv5Family: 20, westus2/cores: 0}
restrictions:
- {size: Standard_D4s_v5, zones: ["1"], location: eastus, reason: NotAvailableForSubscription}
capacity:
- {size: Standard_D2s_v5, zone: "1", priority: spot, vms: 0}       # or `cores: 16`; error, at: start|end
faults:
- {what: SkuNotAvailable, where: {size: Standard_D4s_v5, zone: regional}, when: {skip: 1, after: 5m}, times: 2, at: end}
- {what: TooManyRequests, where: {resource: "*", method: GET}, times: always, probability: 0.1}
- {what: Dropped, where: {resource: virtualMachines}}             # or Slow (seconds: 5), Truncated: only over HTTP
prices: {Standard_D2s_v5: 0.05, Standard_D4s_v5: {on-demand: 0.2, spot: 0.04}, "*": static}   # or a word, or rows: `declared_prices`
spotDiscount: 70%                                                # spot is supposed to cost 70% less than on demand
images: {"2404": 202601.13.0, V3gen2: 202601.07.0}               # or `released`: each version on its day
```

Beside them `sizes` and `regions` (see `amendments`) and `reservations` (see `declared_reservations`), which a world starts with.
Every mistake is a `MarketError` that names its place and the nearest known word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, cast

from fakeazure.arm.texts import TEXTS
from fakeazure.market.amendments import AMENDMENTS, amendment_mistakes
from fakeazure.market.declared_prices import STATIC, declare_prices, price_checks
from fakeazure.market.declared_reservations import RESERVATIONS, declared_reservations
from fakeazure.market.declared_subnets import SUBNETS, declared_subnets
from fakeazure.market.facts import CatalogueLike
from fakeazure.market.faults import ALWAYS, ON_THE_WIRE, STUCK, Fault, Faults
from fakeazure.market.images import Images
from fakeazure.market.market import Market
from fakeazure.market.match import Where
from fakeazure.market.prices import Prices
from fakeazure.market.quota import GENERAL, Quota
from fakeazure.market.restrictions import PRESETS, REASONS, Restriction, Restrictions, Sizes
from fakeazure.market.spot_discount import SPOT_DISCOUNT, spot_discount_of
from fakeazure.market.stock import UNITS, Shelf, Stock
from fakeazure.market.wording import MarketError, check_placement, families, hint, mistakes, one_of

SECTIONS = ("preset", "quota", "restrictions", "capacity", "faults", "prices", SPOT_DISCOUNT, "images")
_AT_START = (*SECTIONS, *AMENDMENTS, RESERVATIONS, SUBNETS)
_WHERE = tuple(field.name for field in fields(Where))
_PLACEMENT = ("size", "family", "zone", "priority", "location")
_FAULT = ("what", "where", "when", "times", "at", "message", "status", "retryAfter", "probability", "seconds")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}


def build_market(catalogue: CatalogueLike, spec: Mapping[str, Any], *, now: float, seed: int = 0) -> Market:
    """The market that `spec` describes over a catalogue that is amended already. Durations in `when` count from `now`, seconds since
    the epoch; `seed` is that of faults by chance."""
    _known(spec, _AT_START, "azure")
    images = Images(catalogue.as_of)
    if "images" in spec:
        images.change(spec["images"])
    prices = declare_prices(spec.get("prices"), Prices())
    _check_list_is_read(spec)
    _suppose(spec, prices)
    return Market(
        catalogue,
        images=images,
        quota=Quota(_limits(_mapping(spec, "quota"), catalogue)),
        restrictions=Restrictions(
            (
                *_preset(spec, catalogue),
                *(_restriction(item, path, catalogue) for item, path in _items(spec, "restrictions")),
            )
        ),
        stock=Stock(_shelf(item, path, catalogue) for item, path in _items(spec, "capacity")),
        faults=Faults(_fault(item, path, catalogue, now=now, seed=seed) for item, path in _items(spec, "faults")),
        prices=prices,
    )


def market_mistakes(catalogue: CatalogueLike, spec: Mapping[str, Any], *, region: str = "eastus") -> list[MarketError]:
    """Every mistake in `spec`, of which `build_market` raises the first; empty when there is none. `region` is the world's."""
    catalogue, wrong = amendment_mistakes(catalogue, spec, region)
    wrong += mistakes(declared_reservations(spec, catalogue, region))
    wrong += mistakes(declared_subnets(spec))
    for check in _checks(catalogue, spec):
        try:
            check()
        except MarketError as error:
            wrong.append(error)
    return wrong


def _checks(catalogue: CatalogueLike, spec: Mapping[str, Any]) -> Iterator[Callable[[], object]]:
    """One call for each part of `spec`; it raises MarketError where the part is wrong."""
    yield partial(_known, spec, _AT_START, "azure")
    yield partial(_preset, spec, catalogue)
    yield from price_checks(spec.get("prices"))
    yield partial(spot_discount_of, spec)
    yield partial(_check_list_is_read, spec)
    if _is_mapping(spec.get("quota")):
        for name, value in (spec.get("quota") or {}).items():
            yield partial(_limits, {name: value}, catalogue)
    else:
        yield partial(_mapping, spec, "quota")
    rules = (("restrictions", _restriction), ("capacity", _shelf), ("faults", partial(_fault, now=0.0)))
    for section, judge in rules:
        value = spec.get(section)
        if not _is_list(value):
            yield partial(_list, spec, section)
            continue
        for index, item in enumerate(value or ()):
            path = f"{section}[{index}]"
            yield partial(judge, item, path, catalogue) if isinstance(item, Mapping) else partial(_item, item, path)
    named = spec.get("images", {})
    for part in [{name: version} for name, version in named.items()] if isinstance(named, Mapping) else [named]:
        yield partial(Images().change, part)


def lay_over(market: Market, spec: Mapping[str, Any], *, now: float) -> None:
    """Change a market while it runs: what `spec` names is set or added, a shelf for the same launches is refilled, the rest stays.

    An empty list of restrictions lifts them all, one of capacity fills every shelf.
    """
    _known(spec, SECTIONS, "azure")
    for name, limit in _limits(_mapping(spec, "quota"), market.catalogue).items():
        location, _, bare = name.rpartition("/")
        market.quota.set_limit(bare, limit, location=location or None)
    if spec.get("restrictions") == []:
        market.restrictions.lift()
    for restriction in _preset(spec, market.catalogue):
        market.restrictions.add(restriction)
    for item, path in _items(spec, "restrictions"):
        market.restrictions.add(_restriction(item, path, market.catalogue))
    if spec.get("capacity") == []:
        market.stock.shelves.clear()
    for item, path in _items(spec, "capacity"):
        shelf = _shelf(item, path, market.catalogue)
        market.stock.shelves[:] = [old for old in market.stock.shelves if old.where != shelf.where]
        market.stock.put(shelf)
    for item, path in _items(spec, "faults"):
        market.faults.declare(_fault(item, path, market.catalogue, now=now))
    declare_prices(spec.get("prices"), market.prices)
    _suppose(spec, market.prices)
    if "images" in spec:
        market.images.change(spec["images"])


def _check_list_is_read(spec: Mapping[str, Any]) -> None:
    """Raise MarketError where a discount is supposed on a list that does not answer: clients would keep prices without it."""
    prices = spec.get("prices")
    word = prices.get("*") if isinstance(prices, Mapping) else prices
    if word == STATIC and spec.get(SPOT_DISCOUNT) is not None:
        raise MarketError(
            SPOT_DISCOUNT,
            "Karpenter reads no list with `prices: static`, so that it would not go by the discount; leave one of both out",
        )


def _suppose(spec: Mapping[str, Any], prices: Prices) -> None:
    """Suppose the described discount on spot; null returns to the list's prices."""
    if SPOT_DISCOUNT in spec:
        prices.suppose_spot_discount(spot_discount_of(spec))


def _preset(spec: Mapping[str, Any], catalogue: CatalogueLike) -> Sequence[Sizes]:
    """Return the restrictions of a preset, as Azure closes most sizes: in all zones of a region, so that they can be
    had outside of zones only.
    """
    name = spec.get("preset")
    if name is None:
        return ()
    one_of(name if isinstance(name, str) else str(name), PRESETS, "preset")
    closed = []
    for location in catalogue.regions:
        region = catalogue.region(location)
        closed.append(Sizes(location, catalogue.unlisted(location), tuple(region.zones)))
    return [closing for closing in closed if closing.names]


def _limits(limits: Mapping[str, Any], catalogue: CatalogueLike) -> Mapping[str, int]:
    for name, limit in limits.items():
        name = str(name)
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise MarketError(f"quota.{name}", f"a limit is a whole number of 0 or more, not {limit!r}")
        bare = name.rpartition("/")[2]
        if bare.lower() not in {usage.lower() for usage in GENERAL} and not _is_family(bare, catalogue):
            near = hint(bare, (*GENERAL, *families(catalogue)))
            known_names = f"; known are {', '.join(GENERAL)} and families such as standardDSv5Family"
            raise MarketError(f"quota.{name}", f"unknown usage {bare!r}{near or known_names}")
    return limits


def _is_family(name: str, catalogue: CatalogueLike) -> bool:
    return any(family.lower() == name.lower() for family in families(catalogue))


def _restriction(item: Mapping[str, Any], path: str, catalogue: CatalogueLike) -> Restriction:
    _known(item, ("size", "family", "location", "zones", "reason"), path)
    reason = str(item.get("reason", REASONS[0]))
    one_of(reason, REASONS, f"{path}.reason")
    check_placement(item, path, catalogue)
    location = str(item.get("location", "*")).lower()
    zones = item.get("zones") or ()
    if isinstance(zones, str) or not isinstance(zones, Sequence):
        raise MarketError(f"{path}.zones", f"expected a list of zones, found {zones!r}")
    return Restriction(
        size=str(item.get("size", "*")),
        family=str(item.get("family", "*")),
        location=location,
        zones=tuple(str(zone).rpartition("-")[2] for zone in zones),
        reason=reason,
    )


def _where(item: Mapping[str, Any], names: Iterable[str]) -> Where:
    return Where(**{name: str(item[name]) for name in names if name in item})


def _shelf(item: Mapping[str, Any], path: str, catalogue: CatalogueLike) -> Shelf:
    _known(item, (*_PLACEMENT, *UNITS, "error", "at"), path)
    units = [unit for unit in UNITS if unit in item]
    if len(units) != 1:
        raise MarketError(path, f"needs one of {' and '.join(UNITS)}")
    check_placement(item, path, catalogue)
    left = item[units[0]]
    if isinstance(left, bool) or not isinstance(left, int) or left < 0:
        raise MarketError(f"{path}.{units[0]}", f"a whole number of 0 or more, not {left!r}")
    error = item.get("error")
    if error is not None:
        one_of(str(error), TEXTS, f"{path}.error")
    return Shelf(
        _where(item, _PLACEMENT),
        left,
        units[0],
        None if error is None else str(error),
        at_once=_at(item, path, default="end") == "start",
    )


def _fault(item: Mapping[str, Any], path: str, catalogue: CatalogueLike, *, now: float, seed: int = 0) -> Fault:
    """One fault. An error code that Azure is not known to have needs a `message`."""
    _known(item, _FAULT, path)
    kind = str(item.get("what", ""))
    if kind not in TEXTS and kind not in (STUCK, *ON_THE_WIRE) and "message" not in item:
        one_of(kind, (*TEXTS, STUCK), f"{path}.what")
    where = _mapping(item, "where", path)
    _known(where, _WHERE, f"{path}.where")
    check_placement(where, f"{path}.where", catalogue)
    when = _mapping(item, "when", path)
    _known(when, ("skip", "after", "until"), f"{path}.when")
    times = item.get("times", 1)
    if times == "always":
        times = ALWAYS
    skip = when.get("skip", 0)
    for name, count in (("times", times), ("when.skip", skip)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise MarketError(f"{path}.{name}", f"a whole number of 0 or more, not {count!r}")
    message, status = item.get("message"), item.get("status")
    if message is not None and not isinstance(message, str):
        raise MarketError(f"{path}.message", f"a text is expected, not {message!r}")
    if status is not None and (isinstance(status, bool) or not isinstance(status, int) or not 400 <= status <= 599):
        raise MarketError(f"{path}.status", f"a status from 400 to 599 is expected, not {status!r}")
    probability = item.get("probability", 1)
    if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 < probability <= 1:
        raise MarketError(f"{path}.probability", f"a number above 0 and at most 1, not {probability!r}")
    return Fault(
        kind,
        _where(where, _WHERE),
        at_end=_at(item, path, default="start") == "end",
        skip=skip,
        times=times,
        not_before=now + _seconds(when["after"], f"{path}.when.after") if "after" in when else None,
        not_after=now + _seconds(when["until"], f"{path}.when.until") if "until" in when else None,
        message=message,
        status=status,
        retry_after=int(_seconds(item["retryAfter"], f"{path}.retryAfter")) if "retryAfter" in item else None,
        probability=float(probability),
        seed=seed,
        seconds=_seconds(item.get("seconds", 5), f"{path}.seconds"),
    )


def _at(item: Mapping[str, Any], path: str, *, default: str) -> str:
    at = str(item.get("at", default))
    one_of(at, ("start", "end"), f"{path}.at")
    return at


def _seconds(value: Any, path: str) -> float:
    """A duration: a number of seconds, or text like `5m`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    match = _DURATION.fullmatch(str(value))
    if match is None:
        raise MarketError(path, f"{value!r} is no duration; write 30s, 5m or 1h")
    return float(match.group(1)) * _SECONDS[match.group(2)]


def _mapping(holder: Mapping[str, Any], name: str, path: str = "") -> Mapping[str, Any]:
    value = holder.get(name)
    if value is None:
        return {}
    if not _is_mapping(value):
        raise MarketError(f"{path}.{name}".lstrip("."), f"expected a mapping, found {value!r}")
    return cast("Mapping[str, Any]", value)


def _items(holder: Mapping[str, Any], name: str) -> Iterable[tuple[Mapping[str, Any], str]]:
    for index, item in enumerate(_list(holder, name)):
        yield _item(item, f"{name}[{index}]"), f"{name}[{index}]"


def _list(holder: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = holder.get(name)
    if not _is_list(value):
        raise MarketError(name, f"expected a list, found {value!r}")
    return cast("Sequence[Any]", value or ())


def _item(item: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise MarketError(path, f"expected a mapping, found {item!r}")
    return cast("Mapping[str, Any]", item)


def _is_list(value: Any) -> bool:
    return value is None or (isinstance(value, Sequence) and not isinstance(value, str))


def _is_mapping(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def _known(holder: Mapping[str, Any], names: Iterable[str], path: str) -> None:
    for name in holder:
        if name not in tuple(names):
            raise MarketError(path, f"unknown field {name!r}{hint(str(name), names)}")
