"""A certificate authority for test clusters, on the openssl program: one key, and a certificate for each name."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.engine.ports import Identity

__all__ = ["Authority", "MissingTool"]


class MissingTool(RuntimeError):
    """A program or file that a cluster needs is not there; the message names it and where to get it."""


class _ClosingSocket(ssl.SSLSocket):
    """A socket that is closed where Python would leave it open: when the other side resets it before it becomes one of TLS."""

    def __del__(self) -> None:
        self.close()


class Authority:
    """Signs certificates into a folder. All certificates share one key: they prove names to a test cluster, nothing else."""

    def __init__(self, folder: Path, *, openssl: str = "openssl") -> None:
        """`ca.crt` and `ca.key` in the folder are used when they are there (a kubeadm cluster's), else made."""
        program = shutil.which(openssl)
        if program is None:
            raise MissingTool(
                f"{openssl} is not installed: certificates of test clusters need it (apt-get install openssl)"
            )
        self._openssl = program
        self.folder = folder
        self.ca, self._ca_key = folder / "ca.crt", folder / "ca.key"
        self.key = folder / "shared.key"
        if not self.key.exists():
            self._run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(self.key))
        if not self.ca.exists():
            self._ca_key.write_bytes(self.key.read_bytes())
            subject = ("-subj", "/CN=test-cluster-ca", "-days", "3650", "-out", str(self.ca))
            self._run("req", "-x509", "-new", "-key", str(self._ca_key), *subject)
        self._serial = 1

    def server(self, name: str, hosts: Sequence[str]) -> Path:
        """A server's certificate for these DNS names and IP addresses."""
        names = ",".join(f"IP:{host}" if host.replace(".", "").isdigit() else f"DNS:{host}" for host in hosts)
        return self._sign(name, f"/CN={name}", f"extendedKeyUsage=serverAuth,clientAuth\nsubjectAltName={names}\n")

    def client(self, identity: Identity) -> Path:
        """A client's certificate: the user is its common name, the groups are its organizations."""
        groups = "".join(f"/O={group}" for group in identity.groups if group != "system:authenticated")
        file = "client-" + identity.user.replace(":", "_").replace("/", "_")
        path = self.folder / f"{file}.crt"
        if path.exists():
            return path
        return self._sign(file, f"{groups}/CN={identity.user}", "extendedKeyUsage=clientAuth\n")

    def context(self, identity: Identity) -> ssl.SSLContext:
        """A TLS context with a client certificate that trusts only this authority.

        Host names are not checked: addresses change with tunnels.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.sslsocket_class = _ClosingSocket
        context.check_hostname = False
        context.load_verify_locations(self.ca)
        context.load_cert_chain(self.client(identity), self.key)
        return context

    def service_account_keys(self) -> tuple[Path, Path]:
        """The private and the public key with which tokens of service accounts are signed."""
        private, public = self.folder / "sa.key", self.folder / "sa.pub"
        self._run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(private))
        self._run("pkey", "-in", str(private), "-pubout", "-out", str(public))
        return private, public

    def _sign(self, name: str, subject: str, extensions: str) -> Path:
        request, certificate, extras = (self.folder / f"{name}.{end}" for end in ("csr", "crt", "ext"))
        extras.write_text(extensions, encoding="utf-8")
        self._run("req", "-new", "-key", str(self.key), "-subj", subject, "-out", str(request))
        self._serial += 1
        authority = ("-CA", str(self.ca), "-CAkey", str(self._ca_key), "-set_serial", str(self._serial))
        validity = ("-days", "365", "-extfile", str(extras), "-out", str(certificate))
        self._run("x509", "-req", "-in", str(request), *authority, *validity)
        return certificate

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [self._openssl, *arguments], capture_output=True, text=True, encoding="locale", check=False
        )
        if done.returncode:
            raise RuntimeError(f"openssl {arguments[0]}: {done.stderr.strip()}")
