"""What the options of `fakeazure serve` change for clients."""

from __future__ import annotations

import argparse
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.cli import run
from fakeazure.commands.serve import add_arguments
from tests.transports.guarded import token_of_a_vm

SUB = f"/subscriptions/{SUBSCRIPTION}"
CALL = f"{SUB}?api-version=2022-12-01"
GROUP = f"{SUB}/resourceGroups/MC_rg_c_eastus?api-version=2021-04-01"


def test_defaults_are_those_that_the_help_tells() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = vars(parser.parse_args([]))
    told = re.findall(
        r"^  --([a-z-]+)(?:(?!^  --).)*?\(default:\s+([^)]*)\)", parser.format_help(), re.MULTILINE | re.DOTALL
    )
    plain = {name.replace("-", "_"): text for name, text in told if options[name.replace("-", "_")] is not None}
    assert plain == {name: str(options[name]) for name in plain}
    assert {"seed", "retry_after", "journal", "host", "region"} <= plain.keys()


@pytest.mark.parametrize(("option", "usual", "least"), [("--http-port", 8080, 0), ("--https-port", 8443, -1)])
def test_ports_are_numbers_of_ports(option: str, usual: int, least: int, capsys: pytest.CaptureFixture[str]) -> None:
    most = 65535
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert vars(parser.parse_args([]))[option.strip("-").replace("-", "_")] == usual
    for port in (least, most):
        assert vars(parser.parse_args([option, str(port)]))[option.strip("-").replace("-", "_")] == port
    for port in (least - 1, most + 1):
        with pytest.raises(SystemExit):
            parser.parse_args([option, str(port)])
        assert f"argument {option}: " in capsys.readouterr().err


def asked(options: list[str], method: str, path: str, with_token: bool = True) -> tuple[int, Mapping[str, str]]:
    """Status and headers of one call to a cloud that is served with these options."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = ["serve", "--http-port", str(port), "--https-port", "-1", "--for", "1", *options]
    serving = threading.Thread(target=run, args=(arguments,))
    serving.start()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(500):
            try:
                if with_token:
                    request.add_header("Authorization", f"Bearer {token_of_a_vm(f'http://127.0.0.1:{port}')}")
                with opener.open(request, timeout=5) as answer:
                    return answer.status, dict(answer.headers)
            except urllib.error.HTTPError as refused:
                return refused.code, dict(refused.headers)
            except OSError:
                threading.Event().wait(0.02)
        raise AssertionError("nothing answers")
    finally:
        serving.join()


@pytest.mark.parametrize(("options", "status"), [([], 401), (["--no-auth"], 200)])
def test_who_is_let_in(options: list[str], status: int) -> None:
    assert asked(options, "GET", CALL, with_token=False)[0] == status


@pytest.mark.parametrize(
    ("options", "wait"),
    [([], "1"), (["--retry-after", "0"], "0"), (["--retry-after", "5"], "5"), (["--retry-after", "-1"], None)],
)
def test_how_long_clients_wait_between_polls(options: list[str], wait: str | None) -> None:
    status, headers = asked(options, "DELETE", GROUP)
    assert (status, headers.get("Retry-After")) == (202, wait)


@pytest.mark.parametrize("options", [[], ["--throttle"]])
def test_answers_tell_how_many_calls_remain(options: list[str]) -> None:
    assert asked(options, "GET", CALL)[1]["x-ms-ratelimit-remaining-subscription-reads"] == "249"


def test_answers_have_the_headers_of_arms_front() -> None:
    headers = asked([], "GET", CALL)[1]
    request = headers["x-ms-request-id"]
    assert headers["x-ms-correlation-request-id"] == request
    place, moment, same = headers["x-ms-routing-request-id"].split(":")
    assert (place, len(moment), same) == ("EASTUS", 16, request)
    assert parsedate_to_datetime(headers["Date"]).tzinfo is not None
