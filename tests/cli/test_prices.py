"""Prices on the command line: what Azure bills, where that is from, and what Karpenter may believe."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import call

Output = pytest.CaptureFixture[str]


def test_the_sizes_at_risk_of_a_region(capsys: Output) -> None:
    code, out, err = call(capsys, "explain", "--prices", "--region", "westeurope")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "Standard_D4as_v5 on-demand 0.2080 0.2080 or 0.3920" in lines
    assert not any("Standard_D4s_v5" in line for line in lines)
    value = json.loads(call(capsys, "explain", "--prices", "--region", "westeurope", "--format", "json")[1])
    (found,) = [one for one in value["sizes"] if one["size"] == "Standard_D4as_v5"]
    assert (found["rows"], found["billed"], found["believed"] in found["rows"]) == ([0.208, 0.392], 0.208, True)


@pytest.mark.parametrize(("region", "guess"), [("westeurope", ""), ("eastus", "no list of eastus is recorded")])
def test_rows_that_are_no_recorded_ones_are_said_to_be_guessed(region: str, guess: str, capsys: Output) -> None:
    told = f"with several rows in Azure's price list{f' (guessed: {guess})' if guess else ''}\n"
    assert told in call(capsys, "explain", "--prices", "--region", region)[1]
    value = json.loads(call(capsys, "explain", "--prices", "--region", region, "--format", "json")[1])
    assert {size["guess"] for size in value["sizes"]} == {guess}


@pytest.mark.parametrize(
    ("words", "unused"),
    [
        (("nofile.yaml",), "nofile.yaml"),
        (("--as-of", "2025-06-02"), "--as-of"),
        (("--fail-on", "bogus", "--kubernetes", "1.34.0"), "--kubernetes, --fail-on"),
        (("--format", "github"), "--format github"),
    ],
)
def test_what_the_prices_of_a_region_do_not_depend_on_is_refused(
    words: tuple[str, ...], unused: str, capsys: Output
) -> None:
    code, out, err = call(capsys, "explain", "--prices", *words)
    assert (code, out) == (2, "")
    assert err == (
        f"harness explain: --prices is about a region (--region, --release, --format): {unused} changes nothing there\n"
    )


def test_an_unknown_region_is_a_mistake(capsys: Output) -> None:
    code, _, err = call(capsys, "explain", "--prices", "--region", "eastus22")
    assert code == 2
    assert "eastus22" in err


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ("westeurope", "on-demand 0.2080 USD/h (andy-diericks/azure-pricing-radar, 2026-08-22)"),
        ("westeurope", "spot 0.0384 USD/h (andy-diericks/azure-pricing-radar, 2026-08-22)"),
        ("eastus", "on-demand 0.1720 USD/h (karpenter-provider-azure, 2026-06-18)"),
        ("eastus", "spot 0.0189 USD/h (guessed: no list of eastus is recorded"),
        (
            "eastus",
            "Karpenter believes 0.1720 or 0.3560: the price list has several rows for it (guessed: no list of eastus is recorded)",
        ),
    ],
)
def test_requirements_have_what_azure_bills_with_its_source(region: str, expected: str, capsys: Output) -> None:
    code, out, _ = call(capsys, "requirements", "--size", "Standard_D4as_v5", "--region", region)
    assert code == 0
    assert expected in " ".join(out.split())
