"""A world on the wall clock: events without a request, and the command that serves it."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.cli import run
from fakeazure.cloud import FakeAzure
from fakeazure.events import Event, PoweredOn
from fakeazure.transports.live import Pump, WallClock
from fakeazure.transports.wire import Front
from tests.cloud.driver import Driver
from tests.plainlines.test_printing import commands, obeyed
from tests.transports.guarded import token_of_a_vm


def test_pump_lets_things_end_when_they_are_due() -> None:
    clock = WallClock(speed=500)
    driver = Driver(clock=clock)
    done = threading.Event()
    seen: list[Event] = []

    def told(event: Event) -> None:
        seen.append(event)
        done.set()

    driver.cloud.subscribe(told)
    front = Front(driver.cloud)
    with Pump(front, clock):
        with front.lock:
            driver.put_vm("aks-a")
        assert done.wait(5)
    [event] = seen
    assert isinstance(event, PoweredOn)


def test_clock_needs_a_speed() -> None:
    with pytest.raises(ValueError, match="speed 0"):
        WallClock(0)


def test_serve_prints_the_environment_and_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("HTTPS needs the program openssl")
    state = tmp_path / "state"
    ports = ["--http-port", "0", "--https-port", "0"]
    assert run(["serve", "--region", "westus", *ports, "--state", str(state), "--for", "0.1"]) == 0
    printed = capsys.readouterr().out
    exported = dict(
        line.removeprefix("export ").split("=", 1) for line in printed.splitlines() if line.startswith("export ")
    )
    assert exported["LOCATION"] == "westus"
    assert exported["VNET_SUBNET_ID"].endswith("/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet")
    assert Path(exported["SSL_CERT_FILE"]).exists()
    description = json.loads(Path(exported["AZURE_ENVIRONMENT_FILEPATH"]).read_text())
    assert description["resourceManagerEndpoint"].startswith("https://127.0.0.1:")
    assert {"resourceManagerEndpoint", "activeDirectoryEndpoint", "tokenAudience"} <= set(description)


# what the controller 1.14.0 panics without (kaz options_validation.go, pkg/operator/operator.go; core options.go), by provision mode
NEEDED = [
    "AZURE_ENVIRONMENT_FILEPATH",
    "SSL_CERT_FILE",
    "AZURE_TOKEN_CREDENTIALS",
    "IDENTITY_ENDPOINT",
    "IDENTITY_HEADER",
    "AZURE_SUBSCRIPTION_ID",
    "ARM_RESOURCE_GROUP",
    "LOCATION",
    "AZURE_NODE_RESOURCE_GROUP",
    "CLUSTER_NAME",
    "CLUSTER_ENDPOINT",
    "KUBELET_BOOTSTRAP_TOKEN",
    "SSH_PUBLIC_KEY",
    "VNET_SUBNET_ID",
    "KUBELET_IDENTITY_CLIENT_ID",
    "NODE_IDENTITIES",
    "PROVISION_MODE",
    "NODEBOOTSTRAPPING_SERVER_URL",
    "DISABLE_LEADER_ELECTION",
    "METRICS_PORT",
    "HEALTH_PROBE_PORT",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
]
OF_MACHINES = ["AKS_MACHINES_POOL_NAME", "USE_SIG", "SIG_SUBSCRIPTION_ID", "SIG_ACCESS_TOKEN_SERVER_URL"]


@pytest.mark.parametrize(
    ("mode", "more"), [("aksscriptless", []), ("bootstrappingclient", []), ("aksmachineapi", OF_MACHINES)]
)
def test_serve_prints_all_that_a_controller_needs(
    mode: str, more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("HTTPS needs the program openssl")
    arguments = ["--http-port", "0", "--https-port", "0", "--state", str(tmp_path), "--for", "0.1", "--mode", mode]
    assert run(["serve", *arguments, "--api-server", "127.0.0.1:7443"]) == 0
    lines = capsys.readouterr().out.splitlines()
    exported = dict(line.removeprefix("export ").split("=", 1) for line in lines if line.startswith("export "))
    assert [name for name in (*NEEDED, *more) if not exported.get(name)] == []
    assert exported["KUBERNETES_SERVICE_PORT"] == "7443"
    assert ("USE_SIG" in exported) == bool(more)


def test_a_shell_takes_what_serve_prints_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("HTTPS needs the program openssl")
    state = tmp_path / "my $(touch mark) `touch mark`; touch mark"
    arguments = ["--http-port", "0", "--https-port", "0", "--state", str(state), "--for", "0.1"]
    assert run(["serve", *arguments]) == 0
    script = capsys.readouterr().out + 'printf "%s\\n" "$SSL_CERT_FILE" "$SSH_PUBLIC_KEY"'
    shell = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shell.stdout.splitlines() == [str(state / "ca.pem"), "ssh-rsa AAAA"]
    assert not (tmp_path / "mark").exists()
    assert run(["serve", *arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["environment"]["SSH_PUBLIC_KEY"] == "ssh-rsa AAAA"


def test_serve_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text("apiVersion: v1\n")
    ports = ["--http-port", "0", "--https-port", "-1", "--kubeconfig", str(config), "--for", "0.1"]
    assert run(["serve", *ports, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["http"].startswith("http://127.0.0.1:")
    assert (printed["https"], [*printed["environment"]]) == (None, ["FAKEAZURE_SECRET"])


def test_serve_answers_while_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    codes: list[int] = []
    serving = threading.Thread(
        target=lambda: codes.append(
            run(
                ["serve", "--http-port", str(port), "--https-port", "-1", "--for", "1.5", "--print-calls", "--throttle"]
            )
        )
    )
    serving.start()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(100):
        try:
            with opener.open(f"http://127.0.0.1:{port}/metadata/endpoints", timeout=5) as answer:
                assert answer.status == 200
            break
        except OSError:
            threading.Event().wait(0.02)
    url = f"http://127.0.0.1:{port}"
    skus = f"{url}/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus?api-version=2021-07-01"
    hostile = f"{url}/subscriptions/%0a::error::x%1b%5b31m/providers/Microsoft.Compute/%23%23%5berror%5d?api-version=%e2%80%ae"
    with pytest.raises(urllib.error.HTTPError) as refused:
        opener.open(hostile, timeout=5)
    refused.value.close()
    with opener.open(
        urllib.request.Request(skus, headers={"Authorization": f"Bearer {token_of_a_vm(url)}"}), timeout=5
    ) as answer:
        remaining = answer.headers["x-ms-ratelimit-remaining-subscription-reads"]
    serving.join()
    assert codes == [0]
    assert remaining == "249"
    printed = capsys.readouterr()
    assert "GET skus/skus 200" in printed.err
    assert set(obeyed(printed.out + printed.err)) <= {"\n"}
    assert commands(printed.out + printed.err) == []
    assert {line.partition(" ")[0] for line in printed.out.splitlines()} == {"#", "export"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "neither JSON nor YAML"),
        ("[]", "expected an object"),
        ('{"qouta": {}}', "unknown field 'qouta'; did you mean 'quota'?"),
    ],
)
def test_serve_names_mistakes_in_the_market(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "market.json"
    path.write_text(content)
    assert run(["serve", "--market", str(path), "--https-port", "-1", "--http-port", "0"]) == 2
    assert message in capsys.readouterr().err


def test_serve_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["serve", "--http-port", "0", "--https-port", "0", "--state", str(tmp_path / "s"), "--for", "0.1"]) == 3
    assert "openssl" in capsys.readouterr().err
    assert run(["serve", "--region", "eastuss"]) == 2
    assert "did you mean 'eastus'" in capsys.readouterr().err


def test_serve_keeps_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = FakeAzure(region="eastus")
    first.state.add_group(SUBSCRIPTION, "mine", "eastus")
    first.save(tmp_path)
    arguments = ["serve", "--http-port", "0", "--https-port", "-1", "--for", "0.1", "--keep", str(tmp_path)]
    before = (tmp_path / "world.json.gz").stat().st_mtime_ns
    assert run(arguments) == 0
    assert (tmp_path / "world.json.gz").stat().st_mtime_ns > before
    again = FakeAzure(region="eastus")
    assert again.load(tmp_path)
    assert again.state.group(SUBSCRIPTION, "mine")["location"] == "eastus"
    assert run([*arguments, "--region", "westus2"]) == 2
    assert "the snapshot is of another world: its location is eastus, not westus2" in capsys.readouterr().err
