"""The controller's process: started in the surroundings of a pod, read by its log, stopped.

It reads `/var/run/secrets/kubernetes.io/serviceaccount/token` (kaz pkg/operator/operator.go, rest.InClusterConfig). `unshare` gives it
a mount namespace with an empty `/var/run` of its own that holds that file, so nothing of the machine is touched; a user other than root
gets a user namespace with it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any

from harness.clusters.apiserver.processes import Processes, tail
from harness.clusters.errors import ClusterFailed
from harness.clusters.waiting import Patience, TimedOut, poll

__all__ = ["ANY_TOKEN", "Controller", "ControllerDied", "NoController", "missing_tools", "pod_command"]

ANY_TOKEN = "karpenter"
"""The content of the token file where nobody reads it."""

_SECRETS = "/var/run/secrets/kubernetes.io/serviceaccount"


_START_SECONDS = 60.0
_PRICES_SECONDS = 15.0
"""Real controllers have prices 2 to 3 s after their workers."""


_PRICES_READ = frozenset({"updated spot pricing", "using existing spot pricing data"})


def _is_up(line: Mapping[str, Any]) -> bool:
    return line.get("controller") == "provisioner" and line.get("message") == "Starting workers"


def _has_prices(line: Mapping[str, Any]) -> bool:
    """Return whether it has read the price list, or given up to (kaz pkg/providers/pricing/pricing.go, updatePricing)."""
    message = str(line.get("message", ""))
    return message in _PRICES_READ or message.startswith(
        ("failed to fetch updated pricing", "failed to update spot pricing")
    )


class ControllerDied(ClusterFailed):
    """The controller has ended by itself; the text has the end of its log."""


def missing_tools() -> str:
    """Return the tools for a controller that this machine lacks, in one line; empty when it has all."""
    lacking = [tool for tool in ("unshare", "mount", "openssl") if shutil.which(tool) is None]
    if lacking:
        return f"not on PATH: {', '.join(lacking)} (Debian: apt-get install util-linux mount openssl)"
    tried = subprocess.run([*pod_command(), "true"], capture_output=True, text=True, encoding="locale", check=False)
    if tried.returncode != 0:
        why = (tried.stderr.strip().splitlines() or ["no message"])[-1]
        return f"a process with a /var/run of its own cannot be started here: {why}"
    return ""


def pod_command(token: str = ANY_TOKEN, ca: Path | None = None) -> tuple[str, ...]:
    """Return the command before a program that runs as in a pod: with a /var/run of its own and a service account's token.

    `ca` becomes the `ca.crt` beside it.
    """
    steps = ["mount -t tmpfs tmpfs /var/run", f"mkdir -p {_SECRETS}", f"printf %s {quote(token)} > {_SECRETS}/token"]
    if ca is not None:
        steps.append(f"cp {quote(str(ca.absolute()))} {_SECRETS}/ca.crt")
    script = " && ".join((*steps, 'exec "$@"'))
    return "unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", script, "sh"


class NoController:
    """Stands in for a Controller that another process starts and that is unknown here."""

    memory = 0

    def start(self) -> None:
        """Do nothing."""

    def wait_until_up(self, pause: Callable[[], None], *, reads_prices: bool) -> None:
        """Wait for nothing."""

    def kill(self) -> None:
        """Raise LookupError: this process did not start it."""
        raise LookupError("the controller is somebody else's")

    def stop(self) -> None:
        """Leave it alone."""

    def check(self) -> None:
        """Know of nothing."""

    def tail(self) -> str:
        """Return no log."""
        return ""

    def lines(self) -> Iterator[Mapping[str, Any]]:
        """Return no log."""
        return iter(())


class Controller:
    """One controller after the other, of one binary with one environment. `folder` becomes the processes' own.

    `token` and `ca` are those of its service account (pod_command).
    """

    def __init__(
        self, binary: Path, environment: Mapping[str, str], folder: Path, *, token: str, ca: Path | None = None
    ) -> None:
        self._pod = pod_command(token, ca)
        self._binary = binary
        self._environment = dict(environment)
        self._folder = folder
        self._processes = Processes(folder)
        self._number = 0
        self._read = 0
        self._rest = b""

    def start(self) -> None:
        """Start the process; `lines` returns its log from now on."""
        self._number += 1
        self._read, self._rest = 0, b""
        variables = [f"{name}={value}" for name, value in self._environment.items()]
        program = ("env", "-i", f"PATH={os.defpath}", *variables, str(self._binary))
        self._processes.start(self._name, *self._pod, *program)

    def wait_until_up(self, pause: Callable[[], None], *, reads_prices: bool) -> None:
        """Wait until its provisioner works; `pause` lets others work meanwhile. Raises TimedOut, ControllerDied.

        Where it `reads_prices` its first start waits a while for them, too: an earlier list of instance types keeps the static
        ones for hours, and a simulated world begins with a controller that has read the list.
        """
        signs = {_is_up: Patience(_START_SECONDS)}
        if reads_prices and self._number == 1:
            signs[_has_prices] = Patience(_PRICES_SECONDS)
        while signs:
            lines = [*self.lines()]
            signs = {sign: patience for sign, patience in signs.items() if not any(map(sign, lines))}
            self.check()
            if _is_up in signs and signs[_is_up].passed:
                raise TimedOut(
                    f"the controller did not begin to work in {signs[_is_up].waited}; the end of its log:\n{self.tail()}"
                )
            if signs.keys() == {_has_prices} and signs[_has_prices].passed:
                return
            if signs:
                pause()

    def kill(self) -> None:
        """End the process at once, as the loss of its node does, and return when it is gone."""
        with suppress(ProcessLookupError):
            os.kill(self._processes.pids[self._name], signal.SIGKILL)
        poll(lambda: self._name in self._processes.exited, "the controller to end", seconds=30)

    def stop(self) -> None:
        """End everything and remove the folder."""
        self._processes.stop()

    def check(self) -> None:
        """Raise ControllerDied when the process has ended by itself."""
        if self._name in self._processes.exited:
            status = self._processes.exited[self._name]
            raise ControllerDied(f"the controller ended with status {status}; the end of its log:\n{self.tail()}")

    def tail(self) -> str:
        """The last lines of its log."""
        return tail(self._log)

    def lines(self) -> Iterator[Mapping[str, Any]]:
        """The log lines since the last call, as its logger wrote them; a line that is no JSON has a message only."""
        try:
            with self._log.open("rb") as log:
                log.seek(self._read)
                data = log.read()
        except FileNotFoundError:
            return
        self._read += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            text = line.decode("utf-8", "replace")
            try:
                value = json.loads(text)
            except ValueError:
                value = None
            yield value if isinstance(value, dict) else {"level": "", "message": text}

    @property
    def memory(self) -> int:
        """Return its resident memory in bytes; 0 where /proc does not tell."""
        try:
            text = Path(f"/proc/{self._processes.pids[self._name]}/statm").read_text(encoding="ascii")
        except (OSError, KeyError):
            return 0
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def _name(self) -> str:
        return f"karpenter-{self._number}"

    @property
    def _log(self) -> Path:
        return self._folder / f"{self._name}.log"
