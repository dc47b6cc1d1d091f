"""A user's own cluster, through their kubeconfig and the `kubernetes` package, which knows all its plugins for authentication.

Only reads are sent: requests of method GET.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from atomicfiles.inputs import open_input
from harness.clusters.client.paths import path_of, root
from harness.kube.api.kinds import KINDS
from harness.wording import did_you_mean

__all__ = ["READ", "ClientMissing", "KubeconfigError", "LiveCluster", "client_of", "namespace_of_context"]

_SECONDS = 30.0
_PAGE = 500  # objects in one answer
_LEFT_OUT = ("Secret", "ServiceAccount", "Lease", "VolumeAttachment")
_CRDS = "apiextensions.k8s.io/v1"

READ = tuple(kind for kind, row in KINDS.items() if row.decides and kind not in _LEFT_OUT)
"""The kinds that are read: those that decide where pods go. Secrets are never read. Karpenter's CRDs are read, too, for its release."""


class ClientMissing(ImportError):
    """The package `kubernetes` is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "reading a cluster needs the package kubernetes: pip install 'karpenter-azure-harness[clusters]'"
        )


class KubeconfigError(ValueError):
    """A kubeconfig that is absent, broken or has no such context, or a cluster that does not answer; one line.

    `reached`: the kubeconfig is good, but the cluster does not answer.
    """

    def __init__(self, text: str, *, reached: bool = False) -> None:
        super().__init__(text)
        self.reached = reached


def client_of(path: Path | None = None, context: str | None = None) -> tuple[str, Any]:
    """A context's name (the current one where none is named), and a client of the package for it. Raises ClientMissing, KubeconfigError."""
    entry = _context(path, context)
    from kubernetes import config
    from yaml import YAMLError

    name = str(entry["name"])
    try:
        return name, config.new_client_from_config(config_file=_file(path), context=name)
    except (KeyError, TypeError, AttributeError):
        raise KubeconfigError(f"{_shown(path)}: is no kubeconfig: clusters, contexts and users are expected") from None
    except (config.ConfigException, YAMLError, OSError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"{_shown(path)}: {_line(error)}") from None


def namespace_of_context(path: Path | None = None, context: str | None = None) -> str:
    """The namespace that kubectl takes in this context; "" where it says none. Raises ClientMissing, KubeconfigError."""
    return str((_context(path, context).get("context") or {}).get("namespace") or "")


def _context(path: Path | None, context: str | None) -> Mapping[str, Any]:
    """A context of a kubeconfig, the current one where none is named. Raises ClientMissing, KubeconfigError."""
    try:
        from kubernetes import config
    except ImportError:
        raise ClientMissing from None
    from yaml import YAMLError

    try:
        contexts, current = config.list_kube_config_contexts(config_file=_file(path))
        names = [str(context["name"]) for context in contexts]
        if context is not None and context not in names:
            raise KubeconfigError(f"{_shown(path)}: there is no context {context}; {did_you_mean(context, names)}")
        chosen: Mapping[str, Any] = current if context is None else contexts[names.index(context)]
        return chosen
    except (KeyError, TypeError, AttributeError):
        raise KubeconfigError(f"{_shown(path)}: is no kubeconfig: clusters, contexts and users are expected") from None
    except (config.ConfigException, YAMLError, OSError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"{_shown(path)}: {_line(error)}") from None


def _file(path: Path | None) -> str | None:
    """Return the file as the package takes it: one, or several between colons, as in `KUBECONFIG`; None for the usual
    one.

    Raises OSError for a path that exists and is no file.
    """
    files = os.path.expanduser(str(path)) if path is not None else os.environ.get("KUBECONFIG") or None
    for file in filter(os.path.exists, (files or "").split(os.pathsep)):
        open_input(Path(file)).close()  # the package would wait for the writer of a pipe
    return files


def _shown(path: Path | None) -> str:
    return str(path) if path is not None else os.environ.get("KUBECONFIG") or "~/.kube/config"


class LiveCluster:
    """The cluster of a context, `name`; of the current one where none is named.

    `moment`: the time of its last answer, by its own clock.

    Raises ClientMissing, KubeconfigError.
    """

    def __init__(self, path: Path | None = None, context: str | None = None) -> None:
        self.name, self._client = client_of(path, context)
        self._as = _impersonated(path, self.name)
        self.forbidden: tuple[str, ...] = ()
        self.moment = ""

    def objects(self) -> Iterator[Mapping[str, Any]]:
        """All objects of the kinds of `READ`, without managedFields; afterwards `forbidden` names the kinds that may not be read.

        A kind that the cluster does not serve has none. Raises KubeconfigError where it does not answer.
        """
        forbidden = []
        for kind in READ:
            row = KINDS[kind]
            try:
                yield from self._list(path_of(row), row.api_version, kind)
            except PermissionError:
                forbidden.append(kind)
        with suppress(PermissionError):
            crds = self._list(f"{root(_CRDS)}/customresourcedefinitions", _CRDS, "CustomResourceDefinition")
            yield from (crd for crd in crds if ".karpenter." in f".{crd['metadata']['name']}")
        self.forbidden = tuple(forbidden)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _list(self, path: str, api_version: str, kind: str) -> Iterator[Mapping[str, Any]]:
        """The objects of a kind, page by page; none where it is not served. Raises PermissionError."""
        more = ""
        while True:
            query = [("limit", str(_PAGE)), *([("continue", more)] if more else [])]
            answer = self._get(path, query)
            if answer is None:
                return
            for item in answer.get("items") or ():
                metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
                yield {"apiVersion": api_version, "kind": kind, **item, "metadata": metadata}
            more = (answer.get("metadata") or {}).get("continue") or ""
            if not more:
                return

    def _get(self, path: str, query: Sequence[tuple[str, str]]) -> Mapping[str, Any] | None:
        """The JSON at a path; None when there is no such resource. Raises PermissionError, KubeconfigError."""
        from urllib3 import HTTPHeaderDict
        from urllib3.exceptions import HTTPError, InsecureRequestWarning

        settings = self._client.configuration
        # made anew for each request: a plugin's token may have run out meanwhile
        headers = {
            setting["key"]: setting["value"]
            for setting in settings.auth_settings().values()
            if setting["in"] == "header"
        }
        try:
            # the generated methods differ from version to version of the package; its connections do not
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", InsecureRequestWarning
                )  # the kubeconfig says so, and kubectl is silent, too
                answer = self._client.rest_client.pool_manager.request(
                    "GET",
                    f"{settings.host}{path}?{urlencode(query)}",
                    headers=HTTPHeaderDict([("Accept", "application/json"), *headers.items(), *self._as]),
                    timeout=_SECONDS,
                    retries=False,
                )
            value: Any = json.loads(answer.data) if answer.status < 400 else {}
        except (HTTPError, OSError, ValueError) as error:
            raise KubeconfigError(f"context {self.name} does not answer: {_line(error)}", reached=True) from None
        self.moment = _moment(answer.headers.get("Date"))
        if answer.status == 404:
            return None
        if answer.status == 403:
            raise PermissionError(path)
        if answer.status >= 400 or not isinstance(value, dict):
            raise KubeconfigError(f"context {self.name}: {path}: {answer.status} {answer.reason}", reached=True)
        return value


def _moment(date: str | None) -> str:
    """Return an answer's `Date` as Kubernetes writes moments; "" where it has none."""
    try:
        return parsedate_to_datetime(date or "").astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return ""


def _impersonated(path: Path | None, context: str) -> list[tuple[str, str]]:
    """The headers by which a context's user acts as another one, which the package does not send (client-go clientcmd, `as`…)."""
    from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, KubeConfigMerger

    config = KubeConfigMerger(_file(path) or KUBE_CONFIG_DEFAULT_LOCATION).config
    named = config["contexts"].get_with_name(context)["context"]
    user = config["users"].get_with_name(named["user"], safe=True) if named.safe_get("user") else None
    settings: Mapping[str, Any] = (user.value.get("user") or {}) if user is not None else {}
    headers = [("Impersonate-User", settings.get("as")), ("Impersonate-Uid", settings.get("as-uid"))]
    headers += [("Impersonate-Group", group) for group in settings.get("as-groups") or ()]
    for name, values in (settings.get("as-user-extra") or {}).items():
        headers += [(f"Impersonate-Extra-{name}", value) for value in values or ()]
    return [(name, str(value)) for name, value in headers if value]


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
