"""Programs that speak the protocol, asked many questions at a time."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

__all__ = ["Answerer", "Asked", "Case", "Reply"]

Case = Mapping[str, Any]
Reply = dict[str, Any]

RESTARTS = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """Replies in the order of the requests, and the seconds from the first request to the last reply."""

    replies: list[Reply]
    seconds: float


class Answerer:
    """Starts a command and asks it; when it dies on a request, that is the reply, and a new process goes on with the next one.

    Everything in `setup` is asked again of every new process (catalogs). A process that says nothing for `timeout` seconds is ended.
    """

    def __init__(self, command: Sequence[str], timeout: float = 120.0) -> None:
        self.command = list(command)
        self.timeout = timeout
        self.setup: list[Case] = []
        self.restarts = 0
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the object
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)

    def prepare(self, requests: Sequence[Case]) -> None:
        """Asks requests whose effect the later ones need."""
        self.setup.extend(requests)
        for request, answer in zip(requests, self._ask(requests), strict=True):
            if "answer" not in answer:
                raise RuntimeError(f"{self.command[0]} refused {request.get('op')} {request.get('name')}: {answer}")

    def ask(self, requests: Sequence[Case]) -> Asked:
        """Asks all `requests`; their ids are replaced by their positions."""
        start = time.perf_counter()
        return Asked(self._ask(requests), time.perf_counter() - start)

    def ask_one(self, request: Case) -> Reply:
        """The reply to one request."""
        return self._ask([request])[0]

    def _ask(self, requests: Sequence[Case]) -> list[Reply]:
        replies: list[Reply] = []
        while len(replies) < len(requests):
            replies.extend(self._ask_until_death(requests, len(replies)))
            if len(replies) < len(requests):
                replies.append(
                    {"ended": f"the process ended with exit status {self._process.wait()}: {self._last_words()}"}
                )
                self.restart()
        return replies

    def _ask_until_death(self, requests: Sequence[Case], first: int) -> list[Reply]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        stdin = process.stdin

        def write() -> None:
            try:
                for number in range(first, len(requests)):
                    stdin.write(json.dumps({**requests[number], "id": number}).encode() + b"\n")
                stdin.flush()
            except OSError:
                pass  # the reader sees the end

        replies: list[Reply] = []
        done = threading.Event()

        def watch() -> None:
            seen = -1
            while not done.wait(self.timeout):
                if len(replies) == seen:  # the same as a timeout ago
                    process.kill()
                    return
                seen = len(replies)

        threads = [threading.Thread(target=target, daemon=True) for target in (write, watch)]
        for thread in threads:
            thread.start()
        for number in range(first, len(requests)):
            line = process.stdout.readline()
            if not line:
                break
            answer = json.loads(line)
            if answer.pop("id", None) != number:
                raise RuntimeError(f"{self.command[0]}: a reply without the request's id: {line[:200]!r}")
            replies.append(answer)
        done.set()
        for thread in threads:
            thread.join()
        return replies

    def _last_words(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-300:].strip()

    def restart(self) -> None:
        """A new process in the place of the old one."""
        self.restarts += 1
        if self.restarts > RESTARTS:
            raise RuntimeError(f"{self.command[0]} ended {RESTARTS} times: {self._last_words()}")
        self._process.kill()
        self._close_pipes()
        self._process = self._start()
        if self.setup:
            self._ask(self.setup)

    def close(self) -> None:
        """Ends the process."""
        self._close_pipes()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def __enter__(self) -> Answerer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
