"""The first operations of each real client on a served cloud; skips where `make test-clients` did not install it."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.clients.operation import MOST
from tests.clients.run import ROOT, ask, clients, served
from tests.clients.test_pages import VENV

CLIENTS = (
    "Python SDKs",
    "az CLI",
    "az documentation",
    "Karpenter's guide",
    "JavaScript SDKs",
    "Java SDK",
    "Go SDK",
    "cloud-provider-azure",
    "Terraform azapi",
)
SOME = 12


@pytest.mark.parametrize("client", CLIENTS)
def test_the_first_operations_work(client: str, tmp_path: Path) -> None:
    command = dict(clients(VENV, tmp_path))[client]
    if isinstance(command, str):
        pytest.skip(command)
    with served(tmp_path / "state") as variables:
        rows = ask(command, {**os.environ, MOST: str(SOME), **variables})
    assert Counter(row[2] for row in rows)["works"] >= min(SOME, len(rows)), rows
    assert len(rows) >= SOME


def test_all_clients_are_tried() -> None:
    assert tuple(name for name, _ in clients(VENV, Path())) == CLIENTS


def test_each_client_has_a_folder_of_its_own() -> None:
    """The clouds that one az has registered are nothing to another."""
    commands = [command for name, command in clients(VENV, Path("folder")) if name.startswith(("az", "Karpenter"))]
    folders = [command[-1] for command in commands if not isinstance(command, str)]
    assert len(set(folders)) == len(folders)


def test_the_makefile_names_each_client() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("# make test-clients "))
    end = next(number for number in range(start + 1, len(lines)) if not lines[number].startswith("#  "))
    header = " ".join(line.removeprefix("#").strip() for line in lines[start:end])
    assert [client for client in CLIENTS if client not in header] == []
