"""Quantities: what Go prints for what it parsed, and for sums."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.kube.api.quantity import NANO, Quantity, QuantityError, places_of
from harness.kube.api.resources import fits, merge, parse_list, render, subtract

# apimachinery v0.35.1, resource.ParseQuantity(text).String()
CANONICAL = {
    "0": "0",
    "00": "0",
    "0Gi": "0",
    ".": "0",
    "1500m": "1500m",
    "1.500": "1.500",
    "1.123": "1.123",
    "0.5": "500m",
    "1000m": "1",
    "128G": "128G",
    "1024Ki": "1Mi",
    "1025Ki": "1025Ki",
    "1.5Gi": "1536Mi",
    "0.1Ki": "102400m",
    "512Mi": "512Mi",
    "5e3": "5e3",
    "1e1": "10",
    "12E": "12E",
    "1n": "1n",
    "0.1n": "1n",
    "1e-100": "1e-9",
    "-1e-100": "-1e-9",
    "0e-100": "0",
    "-1.5Gi": "-1536Mi",
    "123456789Ei": "9223372036854775807",
}
NO_QUANTITY = {
    "": "quantities must match the regular expression",
    "abc": "quantities must match the regular expression",
    "1Gi ": "quantities must match the regular expression",
    "1 Gi": "quantities must match the regular expression",
    "1K": "unable to parse quantity's suffix",
    "1ee": "unable to parse quantity's suffix",
}

GREATEST = ((1 << 63) - 1) * NANO
"""Go cuts off what is more, in billionths."""


@pytest.mark.parametrize(("text", "printed"), CANONICAL.items())
def test_prints_as_go_does(text: str, printed: str) -> None:
    assert str(Quantity.parse(text)) == printed


@pytest.mark.parametrize(("text", "reason"), NO_QUANTITY.items())
def test_refuses_as_go_does(text: str, reason: str) -> None:
    with pytest.raises(QuantityError, match=f"^{reason}"):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "taken"),
    [("1e10000", True), ("1e10001", False), (f"{'9' * 4000}", True), (f"{'9' * 4001}", False)],
)
def test_numbers_beyond_any_use_are_no_quantities(text: str, taken: bool) -> None:
    """A bound of our own: Go takes them too, and computes with them for minutes where the exponent is of nine digits."""
    if taken:
        assert Quantity.parse(text).nano > 0
        return
    with pytest.raises(QuantityError, match="unable to parse quantity's suffix"):
        Quantity.parse(text)


def test_quantities_as_go_reads_them() -> None:
    """What apimachinery says of each text (go_quantities.go): how it prints, its units, and as a decimal; or null and the error."""
    lines = Path(__file__).with_name("go_quantities.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 630
    for text, printed, units, *decimal in map(json.loads, lines):
        if printed is None:
            with pytest.raises(QuantityError) as raised:
                Quantity.parse(text)
            assert str(raised.value) == units, text
        else:
            found = Quantity.parse(text)
            assert str(found) == printed, text
            if (
                found.format != "BinarySI" or 0 < abs(found.nano) < GREATEST
            ):  # nothing, and what is cut off, keep other decimals
                assert [found.decimal(places_of(text))] == decimal, text
            if 0 <= found.nano < NANO << 63:  # beyond that, and below zero, Go's units overflow
                assert found.value() == units, text


@pytest.mark.parametrize("value", [True, None, [], {}])
def test_refuses_what_is_no_text_or_number(value: object) -> None:
    with pytest.raises(QuantityError):
        Quantity.parse(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("0", "1Gi", "1Gi"),  # an empty left side takes the right one's format
        ("1Gi", "0", "1Gi"),
        ("1", "1Ki", "1025"),
        ("1Ki", "1", "1025"),
        ("500m", "500m", "1"),
        ("1Gi", "500m", "1073741824500m"),
        ("1.500", "0", "1500m"),  # a sum forgets how it was written
        ("0.0000000000001Ki", "1023.999999999", "1024"),  # less than one is a decimal from then on
        ("0.0009765625Ki", "1023", "1Ki"),
        ("1Ki", "-0.5", "1023500m"),
    ],
)
def test_sums(left: str, right: str, total: str) -> None:
    assert str(Quantity.parse(left) + Quantity.parse(right)) == total


def test_rounds_away_from_zero() -> None:
    assert [Quantity.parse(text).value() for text in ("1500m", "-1500m", "2")] == [2, -2, 2]


def test_compares_amounts_not_formats() -> None:
    assert Quantity.parse("1Ki") == Quantity.parse("1024")
    assert hash(Quantity.parse("1Ki")) == hash(Quantity.parse("1024"))
    assert Quantity.parse("1G") < Quantity.parse("1Gi") <= Quantity.parse("1.0Gi")


@pytest.mark.parametrize("nano", [-1, 0, 1])
def test_amounts_next_to_nothing(nano: int) -> None:
    quantity, nothing = Quantity(nano), Quantity(0)
    assert (bool(quantity), quantity.is_zero(), quantity.negative) == (nano != 0, nano == 0, nano < 0)
    assert (quantity < nothing, quantity <= nothing) == (nano < 0, nano <= 0)
    assert (quantity > nothing, quantity >= nothing) == (nano > 0, nano >= 0)
    assert (quantity == nothing, -quantity == Quantity(-nano)) == (nano == 0, True)


def test_a_quantity_is_no_number() -> None:
    assert Quantity.parse("1") != 1
    assert Quantity.parse("1") != "1"


def test_lists_of_resources() -> None:
    first, second = parse_list({"cpu": "1500m", "memory": "1Gi"}), parse_list({"cpu": "500m", "pods": 3})
    total = merge(first, second)
    assert render(total) == {"cpu": "2", "memory": "1Gi", "pods": "3"}
    assert render(subtract(total, second)) == {"cpu": "1500m", "memory": "1Gi", "pods": "0"}
    assert fits(first, total)
    assert not fits(total, first)
    assert not fits({}, parse_list({"cpu": "-1"})), "a negative total fits nothing"


@given(st.integers(-(10**24), 10**24), st.sampled_from(["BinarySI", "DecimalSI", "DecimalExponent"]))
def test_what_is_printed_parses_to_the_same_amount(nano: int, form: str) -> None:
    quantity = Quantity(nano, form)  # type: ignore[arg-type]
    assert Quantity.parse(str(quantity)) == quantity


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("0.3Gi", "322122547200m"),  # a fraction of bytes is printed as a decimal, and stays one
        ("0.5Gi", "512Mi"),
        ("1 ", "1"),
        (None, "0"),
        (1.5, "1500m"),
        ("1000Mi", "1000Mi"),
    ],
)
def test_what_the_api_server_gives_back(given: str | float | None, stored: str) -> None:
    assert str(Quantity.stored(given)) == stored


def test_sums_of_fractions_are_decimals() -> None:
    assert render(merge(*[parse_list({"memory": "0.3Gi"})] * 5)) == {"memory": "1610612736"}


@pytest.mark.parametrize("value", [True, False, None, [], {}])
def test_only_texts_and_numbers_are_quantities(value: Any) -> None:
    with pytest.raises(QuantityError):
        Quantity.parse(value)
