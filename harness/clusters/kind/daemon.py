"""The Docker daemon as it is on a busy machine: it answers late, and with a 500 to requests that succeed a moment later."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from docker import DockerClient, from_env
from docker.errors import APIError, NotFound

from harness.clusters.kind.reaper import thaw
from harness.clusters.waiting import Patience, poll

__all__ = ["READ_SECONDS", "connect", "discard", "patiently", "sentence", "where"]

T = TypeVar("T")

READ_SECONDS = 1800
"""Seconds of silence in an answer. kubeadm says nothing for minutes on a busy machine; a daemon that dies closes the connection."""

_PATIENCE = 60.0

_LASTING = ("no space left on device", "address pool", "no such image", "not found", "unknown runtime")
"""Refusals with status 500 that another attempt does not change."""


def where(environ: Mapping[str, str] = os.environ) -> str:
    """The daemon's address, for messages."""
    return environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def connect() -> DockerClient:
    """A client that waits for answers. Raises DockerException."""
    return from_env(timeout=READ_SECONDS)


def sentence(error: Exception) -> str:
    """Return the daemon's message in one line."""
    explanation = getattr(error, "explanation", None) or str(error)
    return " ".join(str(explanation).split())


def patiently(request: Callable[[], T], *, seconds: float = _PATIENCE, pause: float = 0.5) -> T:
    """Ask again while the daemon has a failure of its own (status 5xx) that may pass. Raises APIError, the last one."""
    patience = Patience(seconds)
    last: list[APIError] = []

    def attempt() -> tuple[T] | None:
        try:
            return (request(),)
        except APIError as error:
            if not may_pass(error) or patience.passed:
                raise
            last.append(error)
            return None

    return poll(attempt, lambda: sentence(last[-1]), seconds=2 * seconds, every=pause)[0]


def may_pass(error: APIError) -> bool:
    """Return whether another attempt may succeed."""
    status = error.response.status_code if error.response is not None else 0
    message = sentence(error).lower()
    return status >= 500 and not any(refusal in message for refusal in _LASTING)


def discard(client: DockerClient, container: str) -> None:
    """Remove a container with its volumes, and return when it is gone, whoever removed it. Raises APIError."""

    def gone() -> bool:
        try:
            client.api.remove_container(container, v=True, force=True)
        except NotFound:
            return True
        except APIError as error:
            # 409: its removal is under way
            with suppress(APIError):
                thaw(client.api.inspect_container(container)["Id"])
            if not may_pass(error) and (error.response is None or error.response.status_code != 409):
                raise
        return False

    poll(gone, f"Docker to remove the container {container}", seconds=_PATIENCE * 5, every=0.2)
