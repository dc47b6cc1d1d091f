"""Microsoft.Features: preview features that a subscription registers. Which there are is not known here: each name is taken to be one."""

from __future__ import annotations

from collections.abc import Iterator

from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.state import State

_NAMESPACE = "Microsoft.Features"
_ONE = f"/subscriptions/{{subscription}}/providers/{_NAMESPACE}/providers/{{provider}}/features"


def _key(request: Request) -> str:
    return "/".join(request.params[name] for name in ("subscription", "provider", "feature")).lower()


def _shown(state: State, subscription: str, name: str) -> dict[str, object]:
    """A feature; a registration takes as long as a small resource."""
    provider, _, feature = name.partition("/")
    since = state.features.get(f"{subscription}/{name}".lower())
    registered = since is not None and state.now() >= since[1]
    return {
        "id": f"/subscriptions/{subscription}/providers/{_NAMESPACE}/providers/{provider}/features/{feature}",
        "name": name,
        "type": f"{_NAMESPACE}/providers/features",
        "properties": {"state": "NotRegistered" if since is None else "Registered" if registered else "Registering"},
    }


def _name(request: Request) -> str:
    return f"{request.params['provider']}/{request.params['feature']}"


def _get(state: State, request: Request) -> Response:
    return Response(200, body=_shown(state, request.params["subscription"], _name(request)))


def _register(state: State, request: Request) -> Response:
    state.features.setdefault(_key(request), (_name(request), state.now() + state.timing.resource))
    return _get(state, request)


def _unregister(state: State, request: Request) -> Response:
    state.features.pop(_key(request), None)
    return _get(state, request)


def _list(state: State, request: Request) -> Response:
    """Return the features that the subscription has registered, of a namespace or of all."""
    subscription = request.params["subscription"]
    head = f"{subscription}/{request.params.get('provider', '')}".lower()
    rows = [_shown(state, subscription, name) for key, (name, _) in state.features.items() if key.startswith(head)]
    return Response(200, body={"value": rows})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{_NAMESPACE}/features", _list)
    yield Route("GET", _ONE, _list)
    yield Route("GET", f"{_ONE}/{{feature}}", _get)
    yield Route("POST", f"{_ONE}/{{feature}}/register", _register)
    yield Route("POST", f"{_ONE}/{{feature}}/unregister", _unregister)
