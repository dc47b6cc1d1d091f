"""Template specs, and the templates that deployments link to: by the id of a spec's version, or by a path within such a version.

What a link points at by `uri` is not fetched: the cloud makes no requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import items, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.deployments.template_values import TemplateError
from fakeazure.resources.kinds import Kind
from fakeazure.state import State

__all__ = ["linked", "routes", "template_of"]


def _plain(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document["properties"].pop("provisioningState", None)


def _version(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A version needs a template (azure-rest-api-specs, TemplateSpecVersionProperties)."""
    _plain(state, id_, document, old)
    if not section(document["properties"], "mainTemplate"):
        raise refuse("InvalidRequestContent", target="mainTemplate", reason="'mainTemplate' is required.")


SPECS = Kind("Microsoft.Resources", "templateSpecs", fields=(), fill=_plain)
VERSIONS = Kind("Microsoft.Resources", "versions", fields=(), parents=("templateSpecs",), fill=_version)


def _linked_version(state: State, link: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties of the version of a template spec that a link names. Raises ArmError, TemplateError."""
    id_ = text(link, "id")
    if not id_:
        raise TemplateError(
            "fakeazure takes templates that are in the request or in template specs; it does not fetch what a templateLink points at"
        )
    entry = state.store.get(id_)
    if entry is None or entry.id.type.lower() != VERSIONS.type.lower():
        raise refuse("TemplateSpecVersionNotFound", id=id_)
    properties: Mapping[str, Any] = entry.document["properties"]
    return properties


def template_of(state: State, properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the template that a deployment's properties hold or link to. Raises ArmError, TemplateError."""
    template = section(properties, "template")
    if template:
        return template
    link = section(properties, "templateLink")
    version = _linked_version(state, link)
    path = text(link, "relativePath").removeprefix("./")
    if not path:
        return section(version, "mainTemplate")
    for artifact in items(version, "linkedTemplates"):
        if text(artifact, "path").removeprefix("./") == path:
            return section(artifact, "template")
    raise TemplateError(f"The relative path '{path[:200]}' is not one of the linked templates of '{text(link, 'id')}'.")


def linked(properties: Mapping[str, Any], around: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of a nested deployment; one that links by a path alone links into the spec of the deployment around it."""
    link = section(properties, "templateLink")
    if not text(link, "relativePath") or text(link, "id") or text(link, "uri"):
        return properties
    return {**properties, "templateLink": {**link, "id": text(section(around, "templateLink"), "id")}}


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from SPECS.routes()
    yield from VERSIONS.routes()
