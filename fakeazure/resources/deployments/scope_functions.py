"""The functions of template expressions that know where a template is deployed, what is there, and which functions it declares itself.

Names and rules: learn.microsoft.com, "Scope functions", "Resource functions", "Deployment functions for ARM templates".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.bodies import items, section, text
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.messages import Document
from fakeazure.resources.deployments.template_expressions import LISTING, evaluate
from fakeazure.resources.deployments.template_functions import Function, wrong
from fakeazure.resources.deployments.template_places import Place, resource_id
from fakeazure.resources.deployments.template_texts import shown_date
from fakeazure.resources.deployments.template_values import Budget, TemplateError
from fakeazure.resources.subscriptions import described
from fakeazure.state import State


class NotYet(TemplateError):
    """A reference to a resource of the same template that is not there yet."""


class Referring(Protocol):
    """The part of a scope that `reference` needs."""

    symbols: dict[str, tuple[str, ...]]
    waiting: frozenset[str]

    @property
    def spent(self) -> Budget:
        """Return the work that evaluating has taken."""


def scope_functions(state: State, place: Place, template: Callable[[], Mapping[str, Any]]) -> dict[str, Function]:
    """Functions on the deployment's scope, named in small letters; `template` tells what `deployment()` shows of the template."""
    subscription, tenant = place.subscription, state.settings.tenant

    def deployment() -> Mapping[str, Any]:
        own = {} if place.group is not None else {"location": place.location}
        properties = {"mode": "Incremental", "provisioningState": "Running", **template()}
        return {"name": place.name, **own, "properties": properties}

    def provider(namespace: str, type_: str = "") -> Mapping[str, Any]:
        view = described(state, subscription, namespace)
        if not type_:
            return view
        for row in view["resourceTypes"]:
            if row["resourceType"].lower() == type_.lower():
                return dict(row)
        raise wrong("providers", f"has no resource type '{type_[:100]}' in '{namespace[:100]}'")

    def zones(namespace: str, type_: str, location: str, count: int = 1, offset: int = 0) -> list[str]:
        region = state.market.region(location)
        all_ = list(state.market.catalogue.zones(location)) if region is not None else []
        return all_[offset : offset + count]

    own = {"id": f"/subscriptions/{subscription}", "subscriptionId": subscription, "tenantId": tenant}
    deployer = {"objectId": tenant, "tenantId": tenant, "userPrincipalName": ""}
    return {
        **_ids(place),
        "resourcegroup": Function("", partial(_group, place)),
        "subscription": Function("", lambda: {**own, "displayName": "fakeazure"}),
        "tenant": Function("", lambda: {"tenantId": tenant, "displayName": "fakeazure", "countryCode": "US"}),
        "deployer": Function("", lambda: deployer),
        "deployment": Function("", deployment),
        "environment": Function("", lambda: {**_ENVIRONMENT, "resourceManager": f"{state.settings.base_url}/"}),
        "providers": Function("s s?", provider),
        "pickzones": Function("s s s i? i?", zones),
        "newguid": Function("", state.guids),
        "utcnow": Function("s?", lambda *pattern: shown_date(datetime.fromtimestamp(state.now(), UTC), *pattern)),
    }


_ENVIRONMENT: Mapping[str, Any] = {
    "name": "AzureCloud",
    "portal": "https://portal.azure.com",
    "authentication": {
        "loginEndpoint": "https://login.microsoftonline.com/",
        "audiences": ["https://management.core.windows.net/", "https://management.azure.com/"],
        "tenant": "common",
        "identityProvider": "AAD",
    },
    "graph": "https://graph.windows.net/",
    "suffixes": {
        "acrLoginServer": ".azurecr.io",
        "keyvaultDns": ".vault.azure.net",
        "storage": "core.windows.net",
        "sqlServerHostname": ".database.windows.net",
    },
}
"""The content of `environment()` about Azure's public cloud, but for the address of its resource manager."""


def _group(place: Place) -> Mapping[str, Any]:
    if place.group is None:
        raise TemplateError(
            "The template function 'resourceGroup' is not valid here: the deployment is at a subscription."
        )
    return place.group


def _ids(place: Place) -> dict[str, Function]:
    """Functions that put ids together."""
    subscription = place.subscription

    def group_id(*parts: str) -> str:
        """`resourceId([subscription, [group,]] type, name...)`; at a subscription one without a group is the subscription's."""
        above, type_, names = _split("resourceId", parts, 2)
        if not above and place.group is None:
            return _at(f"/subscriptions/{subscription}", type_, names)
        owner = above[0] if len(above) > 1 else subscription
        group = above[-1] if above else str(_group(place)["name"])
        return str(resource_id(owner, group, type_, "/".join(names)))

    def subscription_id(*parts: str) -> str:
        """`subscriptionResourceId([subscription,] type, name...)`."""
        above, type_, names = _split("subscriptionResourceId", parts, 1)
        return _at(f"/subscriptions/{above[0] if above else subscription}", type_, names)

    def tenant_id(*parts: str) -> str:
        """`tenantResourceId(type, name...)`."""
        _, type_, names = _split("tenantResourceId", parts, 0)
        return _at("", type_, names)

    def extension_id(scope: str, *parts: str) -> str:
        """`extensionResourceId(scope, type, name...)`."""
        _, type_, names = _split("extensionResourceId", parts, 0)
        return _at(scope.rstrip("/"), type_, names)

    return {
        "resourceid": Function("s s*", group_id),
        "subscriptionresourceid": Function("s s*", subscription_id),
        "tenantresourceid": Function("s s*", tenant_id),
        "extensionresourceid": Function("s s s*", extension_id),
    }


def reference_functions(state: State, place: Place, scope: Referring) -> dict[str, Function]:
    """`reference` and what is like it, for a template whose symbols and unfinished resources `scope` knows."""

    def path_of(id_: str) -> str:
        """The ARM id that an argument means: an id, a symbol or a name; empty where there is no such thing."""
        if "/" in id_:
            name = id_.rpartition("/")
            return id_ if id_.startswith("/") else f"{place.scope}/providers/{name[0]}/{name[2]}"
        symbol = scope.symbols.get(id_.lower(), ())
        if len(symbol) == 1:
            return symbol[0]
        scope.spent.step(state.store.count)
        last = f"/{id_.lower()}"
        there = next((str(resource.id) for resource in state.store.all() if resource.id.name == id_), "")
        return there or next((key for key in scope.waiting if key.endswith(last)), "")

    def check_there(path: str) -> None:
        if path.lower() in scope.waiting:
            raise NotYet(f"The resource '{path[:200]}' referenced is not there yet.")

    def reference(id_: str, version: str = "", full: str = "") -> Any:
        path = path_of(id_)
        check_there(path)
        document = lookup(state, path)
        if document is None:
            raise TemplateError(f"The resource '{id_[:200]}' referenced is not there.")
        return document if full.lower() == "full" else document["properties"]

    def references(symbol: str, full: str = "") -> list[Any]:
        return [reference(id_, "", full) for id_ in scope.symbols.get(symbol.lower(), ())]

    def listed(action: str, id_: str, version: str, *more: Any) -> Any:
        """`listKeys(id, version)` and its like: the action of that name, with what its third parameter says as its body."""
        path = path_of(id_) or id_
        check_there(path)
        answer = state.send("POST", f"{path.rstrip('/')}/{action}", {"api-version": version}, dict(*more[:1]))
        if answer.status >= 400:
            refusal = (answer.body or {}).get("error", {})
            raise ArmError(Failure(str(refusal.get("code")), str(refusal.get("message")), answer.status))
        return answer.body

    return {
        "reference": Function("s s? s?", reference),
        "references": Function("s s?", references),
        LISTING: Function("s s s o?", listed),
    }


def lookup(state: State, id_: str) -> Document | None:
    """The document of a resource, a group, a role, a policy or a deployment by its ARM id, as a read shows it."""
    match = _GROUP_ID.fullmatch(id_)
    if match is not None:
        return state.groups.get((match[1].lower(), match[2].lower()))
    namespace = id_.lower().rpartition("/providers/")[2].partition("/")[0]
    versions = next((row for name, row in API_VERSIONS.items() if name.lower() == namespace), ("",))
    if state.store.get(id_) is None and namespace not in _ELSEWHERE:
        return None
    answer = state.send("GET", id_, {"api-version": versions[-1]}, {})
    return answer.body if answer.status == 200 else None


_ELSEWHERE = ("microsoft.authorization", "microsoft.resources")
"""Namespaces whose resources do not all lie in the store."""
_GROUP_ID = re.compile(
    r"/subscriptions/([^/]+)(?:/providers/Microsoft\.Resources)?/resourceGroups/([^/]+)", re.IGNORECASE
)
"""The id of a resource group, as it is and as `subscriptionResourceId('Microsoft.Resources/resourceGroups', name)` writes it."""


def own_functions(template: Mapping[str, Any], budget: Budget) -> dict[str, Function]:
    """The functions that a template declares, named `namespace.name`. They see their parameters and the functions on values only."""
    functions: dict[str, Function] = {}
    for space in items(template, "functions"):
        for name, declared in section(space, "members").items():
            parameters = [text(parameter, "name") for parameter in items(declared, "parameters")]
            output = section(declared, "output").get("value")
            call = _own(parameters, output, budget, functions)
            functions[f"{text(space, 'namespace')}.{name}".lower()] = Function(" ".join("?" for _ in parameters), call)
    return functions


def _own(parameters: list[str], output: Any, budget: Budget, others: Mapping[str, Function]) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        arguments = dict(zip((name.lower() for name in parameters), values, strict=True))

        def parameter(name: str) -> Any:
            if name.lower() not in arguments:
                raise TemplateError(f"The template parameter '{name[:100]}' is not found.")
            return arguments[name.lower()]

        return evaluate(output, {**others, "parameters": Function("s", parameter)}, budget)

    return call


def _at(scope: str, type_: str, names: tuple[str, ...]) -> str:
    return f"{scope}/providers/{str(resource_id('', '', type_, '/'.join(names))).partition('/providers/')[2]}"


def _split(function: str, parts: tuple[str, ...], most: int) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Return the arguments before the type, the type, and the names behind it."""
    place = next((index for index, part in enumerate(parts) if "/" in part), None)
    if place is None or place > most:
        raise TemplateError(
            f"Unable to evaluate template language function '{function}': function requires fully qualified resource type as one of "
            f"its arguments. Please see https://aka.ms/arm-functions#{function.lower()} for usage details."
        )
    return parts[:place], parts[place], parts[place + 1 :]
