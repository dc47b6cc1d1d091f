"""A private certificate authority and a server certificate for Azure's hosts, made by the `openssl` program.

Trust goes by `SSL_CERT_FILE` (Go) or `REQUESTS_CA_BUNDLE` (Python) on the CA's file.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import atomicfiles

HOSTS = ("localhost", "management.azure.com", "login.microsoftonline.com", "prices.azure.com")
DAYS = "825"
_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256")


class PkiError(RuntimeError):
    """No certificate could be made; the text is one line that says why."""


@dataclass(frozen=True, slots=True)
class Pki:
    """Files of one authority: its certificate to trust, and certificate and key of the server."""

    ca: Path
    certificate: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        """For a server."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def client_context(self) -> ssl.SSLContext:
        """For a client that trusts this authority only."""
        return ssl.create_default_context(cafile=str(self.ca))


class Signer:
    """Signs what a VM can show to others, with a certificate of its own that is made when it is first needed."""

    def __init__(self) -> None:
        """Make nothing yet."""
        self._files: tuple[bytes, bytes] | None = None

    def sign(self, content: bytes) -> bytes:
        """A PKCS #7 message in DER that holds `content` and the certificate. PkiError without `openssl`."""
        with tempfile.TemporaryDirectory(prefix="fakeazure-") as folder:
            key, certificate, message = (Path(folder) / name for name in ("key.pem", "certificate.pem", "content"))
            if self._files is None:
                _openssl(
                    "req",
                    "-x509",
                    *_CURVE,
                    "-keyout",
                    key,
                    "-out",
                    certificate,
                    "-days",
                    DAYS,
                    "-subj",
                    "/CN=metadata.azure.com",
                )
                self._files = key.read_bytes(), certificate.read_bytes()
            key.write_bytes(self._files[0])
            certificate.write_bytes(self._files[1])
            message.write_bytes(content)
            signing = ("-signer", certificate, "-inkey", key, "-in", message)
            return _openssl("cms", "-sign", "-binary", "-nodetach", "-outform", "DER", *signing)


def _openssl(*arguments: object) -> bytes:
    """Run openssl. Returns what it writes; PkiError says why it cannot."""
    program = shutil.which("openssl")
    if program is None:
        raise PkiError("certificates need the program 'openssl', which is not on PATH")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, check=False)
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
        raise PkiError(f"openssl {arguments[0]} failed: {last[0]}")
    return done.stdout


def make_pki(directory: Path, *, hosts: tuple[str, ...] = HOSTS, addresses: tuple[str, ...] = ("127.0.0.1",)) -> Pki:
    """Make authority and server certificate in `directory`, or take those that are there.

    PkiError without `openssl`, and where some of the files are there but not all: they may be somebody else's keys. OSError.
    """
    pki, authority_key = (
        Pki(*(directory / name for name in ("ca.pem", "server.pem", "server.key"))),
        directory / "ca.key",
    )
    missing = [path for path in (pki.ca, pki.certificate, pki.key) if not path.exists()]
    if not missing:
        return pki
    for path in (pki.ca, pki.certificate, pki.key, authority_key):
        if os.path.lexists(path):
            raise PkiError(
                f"{path} is there without {missing[0].name}, and is not written over: remove it, or name another folder"
            )
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fakeazure-") as folder:
        _make(Path(folder), hosts, addresses)
        for path, mode in ((authority_key, 0o600), (pki.key, 0o600), (pki.ca, 0o644), (pki.certificate, 0o644)):
            atomicfiles.write(path, (Path(folder) / path.name).read_bytes(), mode=mode)
    return pki


def _make(folder: Path, hosts: tuple[str, ...], addresses: tuple[str, ...]) -> None:
    """Make the files of an authority and its server certificate in an empty folder. PkiError."""
    ca, ca_key, key, certificate, request, extensions = (
        folder / name for name in ("ca.pem", "ca.key", "server.key", "server.pem", "server.csr", "server.ext")
    )
    names = [*(f"DNS:{host}" for host in hosts), *(f"IP:{address}" for address in addresses)]
    extensions.write_text(
        f"subjectAltName={','.join(names)}\nbasicConstraints=CA:FALSE\nkeyUsage=digitalSignature\n"
        "extendedKeyUsage=serverAuth\n",
        encoding="utf-8",
    )
    issued = ("-days", DAYS, "-subj", "/CN=fakeazure CA", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    signing = ("-CAcreateserial", "-days", DAYS, "-sha256", "-extfile", extensions)
    _openssl("req", "-x509", *_CURVE, "-keyout", ca_key, "-out", ca, *issued)
    _openssl("req", *_CURVE, "-keyout", key, "-out", request, "-subj", "/CN=management.azure.com")
    _openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, *signing, "-out", certificate)
