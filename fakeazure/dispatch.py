"""A routed request on its way to its handler: api-version, subscription, throttling, registration, declared faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from fakeazure.arm.bodies import check_forms
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.messages import EMPTY, Request, Response
from fakeazure.arm.real_namespaces import not_emulated, real_operation
from fakeazure.arm.routes import Match, Router
from fakeazure.arm.texts import failure, refuse
from fakeazure.arm.versions import check_version
from fakeazure.guids import is_guid
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.scoped import check_locks
from fakeazure.resources.subscriptions import NAMESPACES
from fakeazure.state import State
from fakeazure.timers import timestamp

FAULT_HEADER = "x-fakeazure-fault"
"""Path of the page that lists what is emulated."""
GRAPH, _OF_GRAPH = "Microsoft Graph", ("/v1.0/", "/beta/")
"""Not a resource provider, but asked at the same address where a client knows no other; and how its paths begin."""


def answer(state: State, router: Router[State], request: Request, match: Match[State] | None, now: float) -> Response:
    """The answer to a routed request. Raises ArmError for one that is refused."""
    if match is None:
        raise ArmError(_no_route(router, request, state))
    route = match.route
    if route.versioned:
        check_version(
            request.api_version,
            namespace=route.namespace or match.params.get("namespace", ""),
            type_=route.type,
            location=match.params.get("location", state.settings.location),
            locations=lambda: state.market.catalogue.regions,
        )
    subscription = match.params.get("subscription")
    extra: Mapping[str, str] = EMPTY
    if subscription is not None:
        if subscription.lower() not in state.subscriptions:
            if not is_guid(subscription):
                raise refuse("InvalidSubscriptionId", subscription=subscription)
            if not state.settings.any_subscription:
                raise refuse("SubscriptionNotFound", subscription=subscription)
            state.subscriptions[subscription.lower()] = set()
        extra = state.throttle.take(request.method, subscription.lower(), now)
        _check_registration(state, request, subscription)
    if request.method in ("PUT", "PATCH") and route.versioned and isinstance(request.body, Mapping):
        check_forms(request.body)
    check_locks(state, request)
    deletion.check(state, request)
    _check_faults(state, request, match, now)
    response = route.handler(state, request)
    if not extra:
        return response
    return Response(
        response.status, {**response.headers, **extra}, response.body, response.array, response.content, response.later
    )


@lru_cache(maxsize=8)
def _compact(moment: int) -> str:
    """A moment as ARM writes it in headers: `20260101T000000Z`."""
    return timestamp(moment)[:19].replace("-", "").replace(":", "") + "Z"


def on_the_wire(
    state: State, request: Request, match: Match[State] | None, now: float, request_id: str
) -> Mapping[str, str]:
    """The headers that an answer has where it travels: those of ARM's front, and the one that tells a transport of a declared fault."""
    headers = {
        "x-ms-correlation-request-id": request.header("x-ms-correlation-request-id") or request_id,
        "x-ms-routing-request-id": f"{state.settings.location.upper()}:{_compact(int(now))}:{request_id}",
    }
    if match is None:
        return headers
    subscription = match.params.get("subscription")
    if subscription is not None and subscription.lower() in state.subscriptions:
        headers |= state.throttle.remaining(request.method, subscription.lower(), now)
    if state.market.faults.all:
        fault = state.market.faults.take(_subject(state, request, match), now, at_end=False, on_the_wire=True)
        if fault is not None:
            headers[FAULT_HEADER] = f"{fault.what} {fault.seconds:g}"
    return headers


def _subject(state: State, request: Request, match: Match[State]) -> Subject:
    return Subject(
        request.method,
        match.route.resource,
        name=request.path.rstrip("/").rpartition("/")[2],
        location=match.params.get("location", state.settings.location),
    )


def _check_faults(state: State, request: Request, match: Match[State], now: float) -> None:
    resource = match.route.resource
    if request.method == "PUT" and resource in ("virtualMachines", "machines"):
        return  # judged where they are let in, with size, zone and priority
    if not state.market.faults.all:
        return
    subject = _subject(state, request, match)
    fault = state.market.faults.take(subject, now, at_end=False)
    if fault is not None:
        raise ArmError(fault.failure(subject, id=request.path, subscription=match.params.get("subscription", "")))


def _check_registration(state: State, request: Request, subscription: str) -> None:
    missing = state.subscriptions[subscription.lower()]
    if missing and request.method in ("PUT", "POST", "PATCH"):
        lowered = request.path.lower()
        for namespace in missing:
            if f"/providers/{namespace.lower()}/" in lowered and not lowered.endswith("/register"):
                raise refuse("MissingSubscriptionRegistration", namespace=namespace)


def _no_route(router: Router[State], request: Request, state: State) -> Failure:
    """Return the failure of a path that is not served: another method, another type, another namespace, which is real
    or not.
    """
    lowered = request.path.lower()
    namespace = lowered.rpartition("/providers/")[2].partition("/")[0] if "/providers/" in lowered else ""
    real = GRAPH if lowered.startswith(_OF_GRAPH) else real_operation(request.method, request.path)
    if real is not None:
        return not_emulated(state.settings.base_url, real).failure
    if router.methods(request.path):
        return failure("MethodNotAllowed", method=request.method)
    row = "InvalidResourceType"
    if namespace and namespace not in {name.lower() for name in NAMESPACES}:
        row = "InvalidResourceNamespace"
    failed = failure(row, namespace=namespace, version=request.api_version)
    from fakeazure.coverage import nearest  # its table is needed for what goes wrong only

    like = nearest(router.routes, request.method, request.path)
    return failed if like is None else replace(failed, headers={"x-fakeazure-nearest": like})
