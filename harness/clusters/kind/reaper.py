"""Removes the remains of a cluster when the process that wanted it is gone: run as a script of its own.

    python reaper.py LABEL=VALUE [FOLDER]

Waits for its standard input to end, which it does however the process at the other end dies; then removes all containers (with
their volumes), volumes and networks that carry the label, and the folder. A process that has removed them itself kills it.
"""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["labelled", "main", "remove_all", "thaw"]

_FREEZER = Path("/sys/fs/cgroup/freezer/docker")

_ATTEMPTS = 300
_PAUSE = 1.0
_READ_SECONDS = 1800


def main() -> int:
    """Wait for the end of standard input, then remove the remains."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    pause = threading.Event()
    clean = 0
    for _ in range(_ATTEMPTS):
        # a daemon under load answers late, and may still carry out the requests of its dead client: only the second empty answer counts
        with suppress(Exception):
            clean = 0 if remove_all(sys.argv[1]) else clean + 1
        if clean > 1:
            break
        pause.wait(_PAUSE)
    for folder in sys.argv[2:]:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def labelled(label: str, owner: str) -> dict[str, str]:
    """The values of a label among containers, volumes and networks, each with the value of another label beside it."""
    values: dict[str, str] = {}
    with _Daemon() as daemon:
        for _, _, labels in daemon.find(label):
            values.setdefault(labels[label], labels.get(owner, ""))
    return values


def remove_all(label: str) -> list[str]:
    """Ask Docker to remove everything that carries a label (`key` or `key=value`). Return the names of the removed things.

    Docker refuses to remove things in use, so that only an empty answer means that all is gone.
    """
    from docker.errors import APIError

    there: list[str] = []
    with _Daemon() as daemon:
        for kind, name, _ in daemon.find(label):
            there.append(f"{kind} {name}")
            with suppress(APIError):
                daemon.remove(kind, name)
    return there


def thaw(container: str, freezer: Path = _FREEZER) -> None:
    """Let go of what a container (its full id) froze of its own, where the system has cgroups v1 and this process may.

    The node's runtime freezes a pod for moments; killed in such a one it leaves processes that no signal ends.
    """
    for state in (freezer / container).rglob("freezer.state"):
        with suppress(OSError):
            state.write_text("THAWED", encoding="utf-8")


class _Daemon:
    """Docker's plain answers: lists without a look at each thing, which may go meanwhile."""

    def __init__(self) -> None:
        import docker

        self._api: Any = docker.APIClient(timeout=_READ_SECONDS, version="auto", **docker.utils.kwargs_from_env())

    def __enter__(self) -> _Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        self._api.close()

    def find(self, label: str) -> Iterator[tuple[str, str, dict[str, str]]]:
        """Yield kind, name and labels of everything that carries the label, users before the things that they use."""
        selector = {"label": label}
        for container in self._api.containers(all=True, filters=selector):
            yield (
                "container",
                (container.get("Names") or [container["Id"]])[0].lstrip("/"),
                container.get("Labels") or {},
            )
        for volume in self._api.volumes(filters=selector).get("Volumes") or ():
            yield "volume", volume["Name"], volume.get("Labels") or {}
        for network in self._api.networks(filters=selector):
            yield "network", network["Name"], network.get("Labels") or {}

    def remove(self, kind: str, name: str) -> None:
        """Remove one thing. Raises APIError."""
        from docker.errors import APIError

        if kind == "container":
            try:
                self._api.remove_container(name, force=True, v=True)
            except APIError:
                thaw(self._api.inspect_container(name)["Id"])
                raise
        elif kind == "volume":
            self._api.remove_volume(name)
        else:
            self._api.remove_network(name)


if __name__ == "__main__":
    sys.exit(main())
