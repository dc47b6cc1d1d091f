"""One node container: systemd, containerd and kubelet in a privileged container of a kind node image."""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from typing import Any

from docker.errors import APIError, NotFound
from docker.types import Mount
from testcontainers.core.container import DockerContainer

from harness.clusters.waiting import poll

__all__ = ["KindNode", "NodeError"]

_BOOTED = re.compile(r"Reached target .*Multi-User System|detected cgroup v1")


class NodeError(RuntimeError):
    """Something in a node container failed. The message has the command's output and the end of the journals."""


class KindNode(DockerContainer):
    """A node without a role. `container` is the container's name (`name` by default), `labels` are Docker's."""

    def __init__(
        self,
        image: str,
        *,
        name: str,
        container: str = "",
        labels: dict[str, str] | None = None,
        seconds: float = 120.0,
        **keywords: Any,
    ) -> None:
        super().__init__(image, **keywords)
        self.with_name(container or name)
        self.node_name = name
        self.seconds = seconds
        self.docker_labels = dict(labels or {})
        self._address = ""

    def start(self) -> KindNode:
        """Starts the container; returns when systemd has started its units. Raises NodeError with the log."""
        self.with_kwargs(
            privileged=True,
            tty=True,
            hostname=self.node_name,
            cgroupns="private",
            security_opt=["seccomp=unconfined", "apparmor=unconfined"],
            labels=self.docker_labels,
            mounts=[Mount("/var", None, type="volume", labels=self.docker_labels)],
        )
        self.with_volume_mapping("/lib/modules", "/lib/modules", "ro")
        self.tmpfs = {"/run": "", "/tmp": ""}
        super().start()
        poll(self._booted, lambda: f"systemd in {self.node_name}\n{self.console()}", seconds=self.seconds, every=0.1)
        return self

    def _booted(self) -> bool:
        container = self.get_wrapped_container()
        container.reload()
        if container.status not in ("created", "running"):
            raise NodeError(f"node {self.node_name} is {container.status}\n{self.console()}")
        return bool(_BOOTED.search(self._console_text()))

    @property
    def address(self) -> str:
        """Its address in the network that it shares with the other nodes."""
        if not self._address:
            container = self.get_wrapped_container()
            container.reload()
            networks = container.attrs["NetworkSettings"]["Networks"]
            self._address = next(each["IPAddress"] for each in networks.values() if each["IPAddress"])
        return self._address

    def sh(self, *argv: str, check: bool = True) -> str:
        """Runs a command in the node; its output. Raises NodeError when it fails, unless told not to check."""
        try:
            done = self.get_wrapped_container().exec_run(list(argv))
        except (APIError, NotFound) as error:
            raise NodeError(
                f"node {self.node_name}: {shlex.join(argv)[:200]}: {error.explanation or error}\n{self.state()}"
            ) from error
        output = (done.output or b"").decode("utf-8", "replace")
        if check and done.exit_code:
            journals = "\n".join(self.journal(unit) for unit in ("kubelet", "containerd"))
            raise NodeError(
                f"node {self.node_name}: {shlex.join(argv)} exited with {done.exit_code}\n{_indented(output, 40)}\n{journals}"
            )
        return output

    def write(self, path: str, text: str) -> None:
        """Writes a file into the node."""
        folder, _, name = path.rpartition("/")
        self.sh("mkdir", "-p", folder)
        data = text.encode()
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        self.get_wrapped_container().put_archive(folder, buffer.getvalue())

    def journal(self, unit: str = "kubelet", lines: int = 20) -> str:
        """The end of a unit's journal, for messages."""
        text = self.sh("journalctl", "--no-pager", "-o", "cat", "-n", str(lines), "-u", unit, check=False)
        return f"journal of {unit} on {self.node_name}:\n{_indented(text, lines)}"

    def console(self, lines: int = 20) -> str:
        """The end of what the node printed while it started."""
        return f"console of {self.node_name}:\n{_indented(self._console_text(), lines)}"

    def state(self) -> str:
        """What Docker says of the container: status, exit code, whether memory ran out; with its console when it is not running."""
        try:
            container = self.get_wrapped_container()
            container.reload()
        except NotFound:
            return f"container {self.node_name} is gone: somebody removed it"
        found = container.attrs["State"]
        if found["Status"] == "running":
            return ""
        extra = ", out of memory" if found.get("OOMKilled") else ""
        return f"container {self.node_name} is {found['Status']} with exit code {found['ExitCode']}{extra}\n{self.console()}"

    def load_image(self, image: str) -> None:
        """Loads an image of the Docker daemon into the node's containerd, as `kind load docker-image` does."""
        container = self.get_wrapped_container()
        with_bytes = io.BytesIO()
        for chunk in container.client.images.get(image).save(named=True):
            with_bytes.write(chunk)
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            entry = tarfile.TarInfo("image.tar")
            entry.size = with_bytes.tell()
            with_bytes.seek(0)
            archive.addfile(entry, with_bytes)
        # /tmp is a tmpfs, into which Docker cannot copy: by way of /kind
        container.put_archive("/kind", buffer.getvalue())
        path = "/kind/image.tar"
        importing = ("ctr", "--namespace=k8s.io", "images", "import", "--digests", "--snapshotter=overlayfs", path)
        self.sh(*importing)
        self.sh("rm", path)

    def _console_text(self) -> str:
        text: str = self.get_wrapped_container().logs().decode("utf-8", "replace")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)


def _indented(text: str, lines: int) -> str:
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])
