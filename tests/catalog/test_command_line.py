"""`fakeazure` on the command line: what is printed, and exit code 2 with one line for every mistake."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fakeazure.catalog import Catalogue
from fakeazure.cli import COMMANDS, parser_of, run
from fakeazure.commands.skus import _FEW, _by_field
from fakeazure.commands.table import to_json

Output = pytest.CaptureFixture[str]


def test_the_table_of_a_region(capsys: Output) -> None:
    assert run(["skus", "--region", "eastus", "--size", "Standard_NC*A100*"]) == 0
    printed = capsys.readouterr()
    assert [line.split()[:7] for line in printed.out.splitlines()] == [
        ["NAME", "VCPU", "GIB", "ARCH", "ZONES", "GPU", "USD/H"],
        ["Standard_NC24ads_A100_v4", "24", "220", "x64", "2", "1", "3.673"],
        ["Standard_NC48ads_A100_v4", "48", "440", "x64", "2", "2", "7.346"],
        ["Standard_NC96ads_A100_v4", "96", "880", "x64", "2", "4", "14.692"],
    ]
    assert "3 sizes, something of 2 is a guess; --guesses tells what and why" in printed.err


def test_the_whole_table_has_a_line_for_each_size(capsys: Output) -> None:
    assert run(["skus", "--region", "westcentralus"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(Catalogue.load().region("westcentralus").skus)
    assert max(map(len, lines)) <= 120


def test_json_is_arms_list(capsys: Output) -> None:
    assert run(["skus", "--region", "eastus", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {"value": list(Catalogue.load().region("eastus").skus)}


def test_json_names_guesses_and_sources_when_asked(capsys: Output) -> None:
    assert run(["skus", "--region", "eastus", "--size", "Standard_D4s_v[57]", "--format", "json", "--guesses"]) == 0
    document = json.loads(capsys.readouterr().out)
    guessed = {name: dict(Catalogue.load().region("eastus").guessed(name)) for name in ("Standard_D4s_v7",)}
    assert document["guessed"] == guessed
    assert list(guessed["Standard_D4s_v7"]) == ["zones", "UltraSSDAvailable"]
    assert document["recorded"]["Standard_D4s_v5"] == {
        "capabilities": {"name": "flexera-public/policy_templates", "date": "2026-06-15"},
        "prices": {"name": "karpenter-provider-azure", "date": "2026-06-18"},
        "zones": {"name": "RHEnVision/provisioning-backend", "date": "2023-08-09"},
    }


def test_guesses_are_listed_by_field_with_their_reason(capsys: Output) -> None:
    assert run(["skus", "--region", "eastus", "--size", "Standard_D4s_v*", "--guesses"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "zones of 2 sizes",
        "  those of standardDSv5Family, the nearest family recorded in eastus: Standard_D4s_v6, Standard_D4s_v7",
        "UltraSSDAvailable of 1 sizes",
        "  no list states it; this is that of StandardDsv6Family, the nearest family: Standard_D4s_v7",
    ]
    assert run(["skus", "--region", "eastus", "--size", "Standard_D4ds_v5", "--guesses"]) == 0
    assert capsys.readouterr().out == "nothing is guessed\n"


def test_the_sizes_of_another_day(capsys: Output) -> None:
    assert run(["skus", "--region", "eastus", "--size", "Standard_D4s_v*", "--as-of", "2025-06-02"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["NAME", "Standard_D4s_v3", "Standard_D4s_v4", "Standard_D4s_v5", "Standard_D4s_v6"]


def test_prices_of_a_size_in_all_regions_cheapest_first(capsys: Output) -> None:
    assert run(["prices", "--size", "Standard_D2s_v3", "--format", "json"]) == 0
    prices = json.loads(capsys.readouterr().out)
    assert prices["eastus"] == 0.096
    assert list(prices.values()) == sorted(prices.values())


def test_prices_of_sizes_that_match(capsys: Output) -> None:
    assert run(["prices", "--region", "eastus", "--size", "standard_d[24]s_v5", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"Standard_D2s_v5": 0.096, "Standard_D4s_v5": 0.192}
    assert run(["prices", "--size", "Standard_D[24]s_v5", "--format", "json"]) == 0
    prices = json.loads(capsys.readouterr().out)
    assert list(prices) == ["Standard_D2s_v5", "Standard_D4s_v5"]
    assert prices["Standard_D4s_v5"]["eastus"] == 0.192
    assert list(prices["Standard_D4s_v5"].values()) == sorted(prices["Standard_D4s_v5"].values())
    assert run(["prices", "--size", "Standard_D[24]s_v5"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["NAME", "REGION", "USD/H"]
    assert len(rows) == sum(map(len, prices.values()))
    for options in ([], ["--region", "eastus"]):
        assert run(["prices", *options, "--size", "Nothing*"]) == 2
        assert "no size matches" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_with_examples_that_it_takes(name: str) -> None:
    parser = parser_of(name)
    assert parser.format_help().rstrip().endswith("\n".join(f"  {line}" for line in COMMANDS[name].examples))
    assert COMMANDS[name].examples
    for example in COMMANDS[name].examples:
        program, command, *words = shlex.split(example)
        assert (program, command) == ("fakeazure", name)
        parser.parse_args(words)


def test_prices_of_a_region(capsys: Output) -> None:
    assert run(["prices", "--region", "eastus"]) == 0
    assert ["Standard_B2s", "0.0416"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    assert run(["prices", "--region", "eastus", "--size", "Standard_D4s_v5", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"Standard_D4s_v5": 0.192}


def test_sizes_and_regions(capsys: Output) -> None:
    assert run(["sizes", "--size", "standard_d4s_v[56]"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "NAME",
        "Standard_D4s_v5",
        "Standard_D4s_v6",
    ]
    assert run(["regions"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["southcentralus", "1,2,3", "1355", "319"] in lines
    assert ["westcentralus", "-", str(len(Catalogue.load().region("westcentralus").skus)), "-"] in lines
    assert len(lines) == 58


def test_an_imported_list_is_written_and_used(tmp_path: Path, capsys: Output) -> None:
    given, out = tmp_path / "mine.json", tmp_path / "list.json"
    given.write_text(json.dumps([{**Catalogue.load().region("westcentralus").sku("Standard_D2s_v3"), "kind": None}]))
    assert run(["import-skus", str(given), "-o", str(out)]) == 0
    assert capsys.readouterr().out.startswith(
        "westcentralus: 1 sizes, 0 with restrictions, 1 with a price; 0 other entries"
    )
    assert run(["skus", "--region", "westcentralus", "--skus", str(out), "--format", "json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["value"]
    assert record["name"] == "Standard_D2s_v3"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["sku", "--region", "eastus"], "unknown command 'sku'; did you mean 'skus'?"),
        (["xyz"], "unknown command 'xyz': see fakeazure --help"),
        (["skus", "--region", "eastsu"], "unknown region 'eastsu'; did you mean 'eastus'"),
        (
            ["skus", "--region", "eastus", "--size", "Standard_D4s_v55"],
            "unknown size 'Standard_D4s_v55' in eastus; did you mean",
        ),
        (
            ["skus", "--region", "westcentralus", "--size", "Standard_M208s_v2"],
            "Standard_M208s_v2 is not sold in westcentralus; sold in australiacentral, australiacentral2, ",
        ),
        (
            ["prices", "--region", "westcentralus", "--size", "Standard_M208s_v2"],
            "Standard_M208s_v2 is not sold in westcentralus; sold in australiacentral, australiacentral2, ",
        ),
        (["skus", "--region", "eastus", "--size", "Nothing*"], "unknown size 'Nothing*' in eastus: no size matches"),
        (["skus", "--region", "eastus", "--as-of", "2024-01-01"], "no list of sizes is as old as 2024-01-01"),
        (["sizes", "--as-of", "today"], "'today' is no date; write 2026-06-15"),
        (["skus", "--region", "eastus", "--as-of", "20250602"], "'20250602' is no date; write 2026-06-15"),
        (["serve", "--as-of", "2025-W23-1"], "'2025-W23-1' is no date; write 2026-06-15"),
        (["skus", "--region", "eastus", "--skus", "absent.json"], "absent.json: No such file or directory"),
        (["prices"], "say which prices: --region R, --size NAME or both"),
        (["prices", "--size", "Standard_D4s_v55"], "unknown size 'Standard_D4s_v55'; did you mean 'Standard_D4s_v5'"),
        (["sizes", "--size", "Standard_D4s_v55"], "unknown size 'Standard_D4s_v55'; did you mean 'Standard_D4s_v5'"),
        (["import-skus", "absent.json"], "absent.json: No such file or directory"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments: list[str], line: str, capsys: Output) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"fakeazure: {line}")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["skus"], ["skus", "--region"], ["skus", "--region", "eastus", "--format", "yaml"]]
)
def test_missing_and_wrong_arguments_are_exit_code_2(arguments: list[str], capsys: Output) -> None:
    assert run(arguments) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("fakeazure skus: ")
    assert line.endswith("; see fakeazure skus --help")


def test_a_place_that_cannot_be_written_is_the_environments_fault(tmp_path: Path, capsys: Output) -> None:
    given = tmp_path / "mine.json"
    given.write_text(json.dumps(list(Catalogue.load().region("westcentralus").skus)))
    assert run(["import-skus", str(given), "-o", str(tmp_path / "no" / "such" / "folder.json")]) == 3
    assert "No such file or directory" in capsys.readouterr().err


def test_help_names_every_command(capsys: Output) -> None:
    assert run(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {name}" in printed and command.purpose in printed for name, command in COMMANDS.items())
    assert run([]) == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: Output) -> None:
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: fakeazure {name}")


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m fakeazure skus --region eastus --format json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_json_keeps_letters_as_they_are() -> None:
    assert to_json({"region": "café"}) == '{\n  "region": "café"\n}'


def test_the_columns_of_sizes(capsys: Output) -> None:
    assert run(["sizes", "--size", "Standard_NC24ads_A100_v4"]) == 0
    header, line = capsys.readouterr().out.splitlines()
    assert header == "NAME                      VCPU  GIB  ARCH  GPU  REGIONS  MIN USD/H  MAX USD/H  FAMILY"
    assert (
        line
        == "Standard_NC24ads_A100_v4    24  220  x64     1       27      3.673      7.346  StandardNCADSA100v4Family"
    )
    assert run(["sizes", "--size", "Standard_NC24ads_A100_v4", "--format", "json"]) == 0
    (size,) = json.loads(capsys.readouterr().out)
    assert (size["gpus"], len(size["regions"]), size["cheapest"], size["dearest"]) == (1, 27, 3.673, 7.346)


def test_a_size_that_one_region_sells_is_listed_too(capsys: Output) -> None:
    assert run(["sizes", "--format", "json"]) == 0
    found = {size["name"]: size for size in json.loads(capsys.readouterr().out)}
    catalogue = Catalogue.load()
    assert found.keys() == {name for region in catalogue.regions for name in catalogue.region(region).by_name}
    rare = found["Standard_D2_v2_Promo"]
    assert (len(rare["regions"]), rare["vCPUs"], rare["memoryGiB"]) == (1, 2, 7)


def test_guesses_begin_with_zones_and_name_a_few_sizes(capsys: Output) -> None:
    assert run(["skus", "--region", "eastus", "--guesses"]) == 0
    lines = capsys.readouterr().out.splitlines()
    fields = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert fields[0] == "zones"
    assert fields[1:] == sorted(fields[1:])
    assert len(fields) > 2
    longest = max((line for line in lines if line.startswith(" ")), key=len)
    assert re.search(r", \S+ and \d+ more$", longest)


def test_regions_as_json(capsys: Output) -> None:
    assert run(["regions", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "eastus" in {one["name"] for one in found}


def test_operations_as_the_page_of_the_documentation(capsys: Output) -> None:
    assert run(["coverage", "--provider", "Microsoft.Network", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("# What of Azure is emulated\n")
    assert run(["coverage", "--provider", "Microsoft.Network"]) == 0
    assert capsys.readouterr().out.startswith("PROVIDER ")


def test_options_are_written_out(capsys: Output) -> None:
    assert run(["skus", "--reg", "eastus"]) == 2
    assert capsys.readouterr().err.startswith("fakeazure")


@pytest.mark.parametrize(("count", "more"), [(1, ""), (_FEW, ""), (_FEW + 1, " and 1 more"), (_FEW + 5, " and 5 more")])
def test_few_sizes_are_named(count: int, more: str) -> None:
    names = [f"s{number}" for number in range(count)]
    title, line = _by_field({name: {"zones": "for a reason"} for name in names})
    assert title == f"zones of {count} sizes"
    assert line == f"  for a reason: {', '.join(names[:_FEW])}{more}"
