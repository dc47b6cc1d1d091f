"""What `fakeazure serve` is given and cannot use: a line for each mistake, exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakeazure.cli import run
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.cloud.driver import Driver

Output = pytest.CaptureFixture[str]
ARGUMENTS = ["serve", "--http-port", "0", "--https-port", "-1", "--for", "0.1"]


def lines(arguments: list[str], capsys: Output) -> list[str]:
    """What it says; the code is 2."""
    assert run([*ARGUMENTS, *arguments]) == 2
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--api-server", "foo"], "argument --api-server: HOST:PORT is expected, e.g. 127.0.0.1:6443, not 'foo'"),
        (["--api-server", "a:0"], "HOST:PORT is expected"),
        (["--sku-regions", ""], "argument --sku-regions: a name is expected, not nothing"),
        (["--sku-regions", "eastus,"], "unknown region ''"),
        (["--sku-regions", "eastus,eastsu2"], "unknown region 'eastsu2'; did you mean 'eastus2'"),
        (["--speed", "nan"], "a number above 0 is expected, not 'nan'"),
        (["--speed", "inf"], "a number above 0 is expected, not 'inf'"),
        (["--for", "-1"], "argument --for: a number above 0 is expected, not '-1'"),
        (["--journal", "-1"], "argument --journal: a number from 0 to 10000000 is expected, not '-1'"),
        (["--http-port", "70000"], "a number from 0 to 65535 is expected, not '70000'"),
        (["--retry-after", "1e3"], "a number from -1 to 86400 is expected, not '1e3'"),
        (["--mode", "scriptless"], "invalid choice: 'scriptless'"),
        (["--kubeconfg", "x"], "unrecognized arguments: --kubeconfg x; did you mean '--kubeconfig'?"),
        (["extra"], "unrecognized arguments: extra; see fakeazure serve --help"),
        (["--kubeconfig", "absent"], "fakeazure: absent: No such file or directory"),
        (["--market", "absent"], "fakeazure: absent: No such file or directory"),
        (["--market", "."], "fakeazure: .: Is a directory"),
        (["--region", "eastsu"], "unknown region 'eastsu'; did you mean 'eastus'"),
        (["--as-of", "2020-01-01"], "no list of sizes is as old as 2020-01-01"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], what: str, capsys: Output) -> None:
    [line] = lines(arguments, capsys)
    assert what in line


def test_an_address_that_cannot_be_had_is_named(capsys: Output) -> None:
    assert run([*ARGUMENTS, "--host", "nohost.invalid"]) == 3
    assert capsys.readouterr().err.startswith("fakeazure: nohost.invalid:0: ")


def test_a_port_that_is_taken_is_told_in_the_systems_words() -> None:
    with HttpServer(Front(Driver().cloud)) as server, pytest.raises(OSError, match="in use") as failed:
        HttpServer(server.front, port=server.port)
    assert (failed.value.strerror, failed.value.filename) == ("Address already in use", f"127.0.0.1:{server.port}")


MARKETS = {
    '{"quota": {"corse": 1},\n "faults": [{"what": "SkuNotAvailabel"}],\n "prices": {"Standard_D2s_v5": -1}}': [
        "1:21: quota.corse: unknown usage 'corse'; did you mean 'cores'?",
        "2:22: faults[0].what: unknown value 'SkuNotAvailabel'; did you mean 'SkuNotAvailable'?",
        "3:32: prices.Standard_D2s_v5: USD per hour of 0 or more, not -1",
    ],
    "quota:\n  cores: x\ncapacity: y\nfaults: {}\n": [
        "2:10: quota.cores: a limit is a whole number of 0 or more, not 'x'",
        "3:11: capacity: expected a list, found 'y'",
        "4:9: faults: expected a list, found {}",
    ],
    '{"quota": 5, "prices": [5], "faults": [null, 5]}': [
        "1:11: quota: expected a mapping, found 5",
        "1:25: prices[0]: expected a mapping, found 5",
        "1:40: faults[0]: expected a mapping, found None",
        "1:46: faults[1]: expected a mapping, found 5",
    ],
    '{"faults": [{"what": "Mine", "message": 5}, {"what": "Mine", "message": "m", "status": 200}]}': [
        "1:41: faults[0].message: a text is expected, not 5",
        "1:88: faults[1].status: a status from 400 to 599 is expected, not 200",
    ],
    "faults: [\n": ["2:1: neither JSON nor YAML: expected the node content, but found '<stream end>'"],
    '"x"': ["1:1: expected an object"],
}


@pytest.mark.parametrize("content", MARKETS)
def test_all_mistakes_of_a_market_are_told_with_their_lines(content: str, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "market"
    path.write_text(content)
    assert lines(["--market", str(path)], capsys) == [f"fakeazure: {path}:{mistake}" for mistake in MARKETS[content]]


def test_a_market_may_have_tabs_and_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "market.json"
    for content in ('{"quota":\t{"cores":\t8}}', "", "{}", "# nothing\n"):
        path.write_text(content)
        assert run([*ARGUMENTS, "--market", str(path)]) == 0
