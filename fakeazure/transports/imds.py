"""The instance metadata service of a VM: `/metadata/instance`, `/metadata/scheduledevents`, `/metadata/attested/document`.

On Azure an address that every VM has of its own. Here `/_fakeazure/vms/NAME` before the path says which VM asks; without it the only
VM that there is. Rules: learn.microsoft.com/azure/virtual-machines/instance-metadata-service.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from fakeazure.arm import json_text
from fakeazure.arm.ids import ResourceId
from fakeazure.cloud import FakeAzure
from fakeazure.resources.compute import instance_metadata
from fakeazure.transports.pki import PkiError

VERSIONS = (
    "2017-03-01", "2017-04-02", "2017-08-01", "2017-10-01", "2017-12-01", "2018-02-01", "2018-04-02", "2018-10-01", "2019-02-01",
    "2019-03-11", "2019-04-30", "2019-06-01", "2019-06-04", "2019-08-01", "2019-08-15", "2019-11-01", "2020-06-01", "2020-07-15",
    "2020-09-01", "2020-10-01", "2020-12-01", "2021-01-01", "2021-02-01", "2021-03-01", "2021-05-01", "2021-10-01", "2021-11-01",
    "2021-11-15", "2021-12-13", "2023-07-01", "2023-11-15", "2024-07-17", "2025-04-07",
)  # fmt: skip
EVENTS = (
    "2017-03-01", "2017-08-01", "2017-11-01", "2019-01-01", "2019-04-01", "2019-08-01", "2020-07-01",
)  # fmt: skip
_VM = re.compile(r"/_fakeazure/vms/([^/]+)(/metadata/.*)", re.IGNORECASE)
_OURS = ("/metadata/instance", "/metadata/scheduledevents", "/metadata/attested/document", "/metadata/versions")
_NONCE = re.compile(r"\d{0,10}")
JSON, TEXT = "application/json; charset=utf-8", "text/plain; charset=utf-8"
Answer = tuple[int, str, bytes]
"""Status, content type, body."""
Sign = Callable[[bytes], bytes]
"""Content → PKCS #7 message. PkiError where nothing can sign."""


def is_metadata(path: str) -> bool:
    """Return whether a request is one that a VM asks about itself."""
    match = _VM.fullmatch(path)
    inner = (match[2] if match else path).lower()
    return any(inner == path or inner.startswith(f"{path}/") for path in _OURS)


def answer(
    cloud: FakeAzure,
    method: str,
    path: str,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    raw: bytes,
    sign: Sign,
) -> Answer:
    """The answer to such a request; `headers` have lower-cased names."""
    if headers.get("metadata", "").lower() != "true" or "x-forwarded-for" in headers:
        return _refused(400, "Bad request. Required metadata header not specified")
    match = _VM.fullmatch(path)
    name, inner = (unquote(match[1]), match[2]) if match else ("", path)
    lowered = inner.lower().rstrip("/")
    events = lowered == "/metadata/scheduledevents"
    if method not in (("GET", "POST") if events else ("GET",)):
        return _refused(405, "Method not allowed")
    if lowered == "/metadata/versions":
        return 200, JSON, json_text.write({"apiVersions": list(VERSIONS)})
    versions = EVENTS if events else VERSIONS
    version = query.get("api-version", "")
    if version not in versions:
        problem = "is invalid or was not specified" if version else "was not specified"
        body = {
            "error": f"Bad request. api-version {problem} in the request. For more information refer to aka.ms/azureimds",
            "newest-versions": list(versions[:-4:-1]),
        }
        return 400, JSON, json_text.write(body)
    vm = _asker(cloud, name)
    if vm is None:
        return _refused(404, "Not found. /_fakeazure/vms/NAME before the path says which VM asks")
    if events:
        return _events(cloud, vm, method, raw)
    if lowered == "/metadata/attested/document":
        return _attested(cloud, vm, query.get("nonce", ""), sign)
    return _instance(cloud, vm, lowered.removeprefix("/metadata/instance").strip("/"), query)


def _asker(cloud: FakeAzure, name: str) -> ResourceId | None:
    if name:
        try:
            return cloud.vm_id(name)
        except LookupError:
            return None
    machines = cloud.vms()
    return ResourceId.parse(machines[0].id) if len(machines) == 1 else None


def _instance(cloud: FakeAzure, vm: ResourceId, inner: str, query: Mapping[str, str]) -> Answer:
    """All of it as JSON, or one value as text."""
    part: Any = instance_metadata.instance(cloud.state, vm)
    for step in filter(None, inner.split("/")):
        if isinstance(part, list) and step.isdecimal() and int(step) < len(part):
            part = part[int(step)]
            continue
        name = next((key for key in part if key.lower() == step), None) if isinstance(part, dict) else None
        if name is None:
            return _refused(404, "Not found")
        part = part[name]
    if not isinstance(part, dict | list):
        return 200, TEXT, str(part).encode()
    if query.get("format", "json") == "text":
        names = part if isinstance(part, dict) else range(len(part))
        return 200, TEXT, "\n".join(f"{name}/" if _inner(part, name) else str(name) for name in names).encode()
    return 200, JSON, json_text.write(part)


def _inner(holder: Any, name: Any) -> bool:
    return isinstance(holder[name], dict | list)


def _events(cloud: FakeAzure, vm: ResourceId, method: str, raw: bytes) -> Answer:
    if method == "GET":
        return 200, JSON, json_text.write(instance_metadata.scheduled_events(cloud.state, vm))
    try:
        document = json_text.read(raw, 8) or {}
        wanted = [str(event["EventId"]) for event in document.get("StartRequests", ())]
    except (ValueError, KeyError, TypeError):
        return _refused(400, "Bad request. Could not parse request body")
    if not instance_metadata.start_requests(cloud.state, vm, wanted):
        return _refused(400, "Bad request. EventId is not known")
    return 200, JSON, b""


def _attested(cloud: FakeAzure, vm: ResourceId, nonce: str, sign: Sign) -> Answer:
    if _NONCE.fullmatch(nonce) is None:
        return _refused(400, "Bad request. Nonce must be up to 10 digits")
    content = json_text.write(instance_metadata.attested(cloud.state, vm, nonce))
    try:
        signed = sign(content)
    except PkiError as error:
        return _refused(503, str(error))
    return 200, JSON, json_text.write({"encoding": "pkcs7", "signature": b64encode(signed).decode()})


def _refused(status: int, text: str) -> Answer:
    return status, JSON, json_text.write({"error": text})
