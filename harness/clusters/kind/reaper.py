"""Removes what a cluster left when the process that wanted it is gone: run as a script of its own.

    python reaper.py LABEL=VALUE [FOLDER]

Waits for its standard input to end, which it does however the process at the other end dies; then removes all containers (with
their volumes), volumes and networks that carry the label, and the folder.
"""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from contextlib import suppress

__all__ = ["labelled", "main", "remove_all"]


_ATTEMPTS = 20


def main() -> int:
    """Waits, then removes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    pause = threading.Event()
    for _ in range(_ATTEMPTS):
        # a daemon under load answers late, and may still be making what its dead client asked for
        with suppress(Exception):
            if not remove_all(sys.argv[1]):
                break
        pause.wait(1)
    for folder in sys.argv[2:]:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def labelled(label: str, owner: str) -> dict[str, str]:
    """The values of a label among containers, volumes and networks, each with the value of another label beside it."""
    import docker

    client = docker.from_env()
    found: dict[str, str] = {}
    try:
        selector = {"label": label}
        for container in client.containers.list(all=True, filters=selector):
            found[container.labels[label]] = container.labels.get(owner, "")
        for each in (*client.volumes.list(filters=selector), *client.networks.list(filters=selector)):
            labels = each.attrs.get("Labels") or {}
            found.setdefault(labels[label], labels.get(owner, ""))
    finally:
        client.close()
    return found


def remove_all(label: str) -> list[str]:
    """Removes everything of Docker's that carries a label (`key` or `key=value`); answers the names."""
    import docker
    from docker.errors import APIError, NotFound

    client = docker.from_env()
    removed: list[str] = []
    try:
        selector = {"label": label}
        for container in client.containers.list(all=True, filters=selector):
            removed.append(f"container {container.name}")
            try:
                container.remove(force=True, v=True)
            except (NotFound, APIError):
                continue
        for kind, found in (
            ("volume", client.volumes.list(filters=selector)),
            ("network", client.networks.list(filters=selector)),
        ):
            for each in found:
                removed.append(f"{kind} {each.name}")
                try:
                    each.remove()
                except (NotFound, APIError):
                    continue
    finally:
        client.close()
    return removed


if __name__ == "__main__":
    sys.exit(main())
