"""One node container: systemd, containerd and kubelet in a privileged container of a kind node image."""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from contextlib import suppress
from typing import Any

from docker.errors import APIError, ContainerError, ImageNotFound, NotFound
from docker.types import Mount
from requests.exceptions import RequestException
from testcontainers.core.container import DockerContainer
from testcontainers.core.exceptions import ContainerStartException

from harness.clusters.errors import ClusterFailed
from harness.clusters.kind.daemon import READ_SECONDS, discard, may_pass, patiently, sentence
from harness.clusters.kind.journals import exhaustion
from harness.clusters.waiting import poll

__all__ = ["ImageMissing", "KindNode", "NodeError"]

_BOOTED = re.compile(r"Reached target .*Multi-User System|detected cgroup v1")
_JOURNALS = "/var/log/journal"
_STARTS = 5
"""The number of times that Docker is asked to start a container before its refusal counts."""


class NodeError(ClusterFailed):
    """Something in a node container failed. The message has the command's output and the end of the journals."""


class ImageMissing(NodeError):
    """The node image is not here and cannot be pulled. The message is one line and tells how to name another."""


class KindNode(DockerContainer):
    """A node without a role. `container` is the container's name (`name` by default), `labels` are Docker's.

    `seconds` are those of an idle machine (harness.clusters.waiting.Patience).
    """

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
        keywords.setdefault("docker_client_kw", {"timeout": READ_SECONDS})
        super().__init__(image, **keywords)
        self.container_name = container or name
        self.with_name(self.container_name)
        self.node_name = name
        self.seconds = seconds
        self.docker_labels = dict(labels or {})
        self._address = ""

    def start(self) -> KindNode:
        """Start the container, and return when systemd has started its units.

        Raises ImageMissing, NodeError with the log, TimedOut.
        """
        self._need_image()
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
        self._start_container()
        poll(self._booted, lambda: f"systemd in {self.node_name}\n{self.console()}", seconds=self.seconds, every=0.25)
        # the journals must outlive the node
        self.sh("sh", "-c", f"mkdir -p {_JOURNALS} && journalctl --flush", check=False)
        return self

    def discard(self) -> None:
        """Remove the container and its volumes, if they are there, and close the connection to Docker."""
        client = self.get_docker_client().client
        try:
            discard(client, self.container_name)
        finally:
            self._container = None
            client.close()

    def _need_image(self) -> None:
        """Raise ImageMissing, in one line: Docker's own refusal to pull is long and names no way out."""
        client = self.get_docker_client().client
        try:
            patiently(lambda: client.images.get(self.image))
        except ImageNotFound:
            try:
                client.images.pull(self.image)
            except (APIError, RequestException) as error:
                raise ImageMissing(
                    f"the node image {self.image} is not here and cannot be pulled ({sentence(error)[:200]}); name one that is, "
                    "with HARNESS_KIND_IMAGE, --kind-image or KindContainer(image)"
                ) from None

    def _start_container(self) -> None:
        """Start the container again where Docker refuses, as it does on a busy machine; the remains of an attempt are removed first."""
        attempts = iter(range(_STARTS, 0, -1))

        def start() -> bool:
            try:
                DockerContainer.start(self)
            except APIError as error:
                discard(self.get_docker_client().client, self.container_name)
                if next(attempts, 1) == 1 or not may_pass(error):
                    raise NodeError(f"Docker does not start node {self.node_name}: {sentence(error)}") from error
                return False
            return True

        poll(start, f"Docker to start node {self.node_name}", seconds=self.seconds * _STARTS, every=1.0)

    def _booted(self) -> bool:
        container = self.get_wrapped_container()
        patiently(container.reload)
        if container.status not in ("created", "running"):
            raise NodeError(f"node {self.node_name} is {container.status}\n{self.console()}")
        console = self._console_text()
        lacking = exhaustion(console)
        if lacking:
            raise NodeError(f"node {self.node_name} does not come up: {lacking}\n{self.console()}")
        return bool(_BOOTED.search(console))

    @property
    def address(self) -> str:
        """Return its address in the network that it shares with the other nodes. Raises NodeError without one.

        A busy Docker reports it late.
        """
        if not self._address:
            self._address = poll(self._told_address, f"node {self.node_name} to have an address", seconds=self.seconds)
        return self._address

    def _told_address(self) -> str:
        container = self.get_wrapped_container()
        patiently(container.reload)
        if container.status not in ("created", "running"):
            raise NodeError(f"node {self.node_name} is {container.status}\n{self.console()}")
        networks = container.attrs["NetworkSettings"]["Networks"]
        return next((str(network["IPAddress"]) for network in networks.values() if network["IPAddress"]), "")

    def sh(self, *argv: str, check: bool = True) -> str:
        """Run a command in the node, and return its output. Raises NodeError when it fails, unless `check` is off."""
        container = self._running()
        try:
            done = patiently(lambda: container.exec_run(list(argv)))
        except (APIError, RequestException) as error:
            raise NodeError(
                f"node {self.node_name}: {shlex.join(argv)[:200]}: {sentence(error)}\n{self.state()}"
            ) from error
        output = (done.output or b"").decode("utf-8", "replace")
        if check and done.exit_code:
            journals = "\n".join(self.journal(unit) for unit in ("kubelet", "containerd"))
            raise NodeError(
                f"node {self.node_name}: {shlex.join(argv)} exited with {done.exit_code}\n{_indented(output, 40)}\n{journals}"
            )
        return output

    def read(self, path: str) -> str:
        """Return the text of a file in the node, once it has any. Raises NodeError, TimedOut.

        Docker now and then ends a command before its output has come; and the writer of the file may not have finished.
        """
        return poll(
            lambda: self.sh("cat", path), f"{path} of {self.node_name} to have content", seconds=self.seconds, every=0.2
        )

    def write(self, path: str, text: str) -> None:
        """Write a file into the node."""
        folder, _, name = path.rpartition("/")
        self.sh("mkdir", "-p", folder)
        data = text.encode()
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        container = self._running()
        try:
            patiently(lambda: container.put_archive(folder, buffer.getvalue()))
        except (APIError, RequestException) as error:
            raise NodeError(f"node {self.node_name}: writing {path}: {sentence(error)}\n{self.state()}") from error

    def journal(self, unit: str = "kubelet", lines: int = 20) -> str:
        """The end of a unit's journal, for messages; also of a node that has stopped."""
        command = ["journalctl", "--no-pager", "-q", "-o", "cat", "-n", str(lines), "-u", unit]
        try:
            text = self.sh(*command, check=False) if self._runs() else self._read_stopped([*command, "-D", _JOURNALS])
        except (NodeError, APIError, RequestException) as error:
            text = f"({sentence(error)})"
        return f"journal of {unit} on {self.node_name}:\n{_indented(text, lines)}"

    def restart_kubelet(self) -> str:
        """Start the kubelet anew, or one that was stopped. Returns the place in its journal from which it speaks, for `kubelet_said`."""
        script = "systemctl stop kubelet; journalctl -q -n 0 --show-cursor; systemctl start kubelet"
        cursor = re.search(r"^-- cursor: (.*)$", self.sh("sh", "-c", script), re.MULTILINE)
        return cursor[1].strip() if cursor else ""

    def kubelet_said(self, cursor: str = "", lines: int = 60) -> str:
        """Return the end of the kubelet's output, from a place on."""
        since = ["--after-cursor", cursor] if cursor else []
        return self.sh(
            "journalctl", "--no-pager", "-q", "-o", "cat", "-n", str(lines), "-u", "kubelet", *since, check=False
        )

    def console(self, lines: int = 20) -> str:
        """Return the end of the node's output while it started."""
        text = ""
        with suppress(APIError, RequestException, ContainerStartException):
            text = self._console_text()
        return f"console of {self.node_name}:\n{_indented(text, lines)}"

    def state(self) -> str:
        """Return Docker's report about a container that is not running: status, exit code, whether memory ran out, its
        last words.

        Empty for one that runs.
        """
        try:
            container = self.get_wrapped_container()
            patiently(container.reload)
        except (NotFound, ContainerStartException):
            return f"container {self.container_name} is gone: somebody removed it"
        except (APIError, RequestException) as error:
            return f"container {self.container_name}: Docker says nothing of it: {sentence(error)}"
        state = container.attrs["State"]
        if state["Status"] == "running":
            return ""
        extra = ", out of memory" if state.get("OOMKilled") else ""
        status = f"container {self.container_name} is {state['Status']} with exit code {state['ExitCode']}{extra}"
        return "\n".join((status, self.journal("kubelet"), self.console(8)))

    def load_image(self, image: str) -> None:
        """Load an image of the Docker daemon into the node's containerd, as `kind load docker-image` does."""
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

    def _running(self) -> Any:
        """Return the container. Raises NodeError when there is none any more."""
        try:
            return self.get_wrapped_container()
        except ContainerStartException:
            raise NodeError(f"node {self.node_name} has been removed") from None

    def _runs(self) -> bool:
        container = self._running()
        with suppress(NotFound):
            patiently(container.reload)
            return bool(container.status == "running")
        return False

    def _read_stopped(self, command: list[str]) -> str:
        """The output of a command with the volumes of this container, which has stopped."""
        client = self.get_docker_client().client
        try:
            output: bytes = client.containers.run(
                self.image,
                command[1:],
                entrypoint=command[:1],
                volumes_from=[f"{self.container_name}:ro"],
                labels=self.docker_labels,
                network_mode="none",
                remove=True,
                stderr=True,
            )
        except ContainerError as error:
            output = error.stderr or b""
        return output.decode("utf-8", "replace")

    def _console_text(self) -> str:
        container = self.get_wrapped_container()
        text: str = patiently(lambda: container.logs(tail=500)).decode("utf-8", "replace")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)


def _indented(text: str, lines: int) -> str:
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])
