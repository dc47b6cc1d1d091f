"""SSH public keys, and key pairs that Azure makes for somebody."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from typing import Any

from fakeazure.arm.bodies import text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.kinds import Kind
from fakeazure.state import State


def _key(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document["properties"].pop("provisioningState", None)
    key = text(document["properties"], "publicKey")
    if key and not key.startswith(("ssh-rsa ", "ssh-ed25519 ", "-----BEGIN", "---- BEGIN")):
        raise refuse("InvalidSshKey", target="publicKey")


KEYS = Kind("Microsoft.Compute", "sshPublicKeys", (), fill=_key)


def _generate(state: State, request: Request) -> Response:
    """A pair of the right form; nothing was encrypted with it, so the private part is a placeholder."""
    id_ = KEYS.id_of(state, request)
    document = state.found(id_).document
    digits = bytes.fromhex(guid_of(f"key{id_.key}").replace("-", "")) * 24
    parts = b"".join(struct.pack(">I", len(part)) + part for part in (b"ssh-rsa", b"\x01\x00\x01", b"\x00" + digits))
    public = f"ssh-rsa {base64.b64encode(parts).decode()} generated-by-azure"
    private = base64.b64encode(digits).decode()
    state.store.put(id_, {**document, "properties": {**document["properties"], "publicKey": public}})
    pem = f"-----BEGIN RSA PRIVATE KEY-----\r\n{private}\r\n-----END RSA PRIVATE KEY-----\r\n"
    return Response(200, body={"id": str(id_), "publicKey": public, "privateKey": pem})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from KEYS.routes()
    group = "/subscriptions/{subscription}/resourceGroups/{group}"
    yield Route("POST", f"{group}/providers/{KEYS.type}/{{name}}/generateKeyPair", _generate)
