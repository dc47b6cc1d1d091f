"""LimitRanges and ResourceQuotas of the memory cluster: the admission plugins LimitRanger and ResourceQuota, and the quota controller."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any

from harness.clusters.memory.request import Admission, Request
from harness.clusters.memory.store import Store
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, View, Writer, key_by_place
from harness.kube.admission.limit_range import default_limit_range, limit_range_errors, with_limit_ranges
from harness.kube.admission.resource_quota import applies, counted_kinds, quota_error, total, usage_of
from harness.kube.api.field_errors import aggregate
from harness.kube.api.objects import Object, is_terminating, name_of, namespace_of, spec_of, status_of
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.api.resources import parse_list
from harness.kube.api.status import bad_request, forbidden

__all__ = ["ResourceQuotas", "limit_checks", "limit_defaults", "quota_checks"]

_LIMITED = frozenset({"Pod", "PersistentVolumeClaim"})


def limit_defaults(store: Callable[[], Store]) -> Admission:
    """Give new pods the defaults of the LimitRanges of their namespace, and LimitRanges their own defaults."""

    def judge(request: Request) -> dict[str, Any]:
        if request.kind.kind == "LimitRange" and not request.subresource and request.verb != "delete":
            try:
                return default_limit_range(request.object)
            except QuantityError as error:
                raise bad_request(f'LimitRange in version "v1" cannot be handled as a LimitRange: {error}') from None
        if request.kind.kind != "Pod" or request.verb != "create" or request.subresource:
            return request.object
        ranges = store().list("LimitRange", namespace=request.key.namespace)
        return with_limit_ranges(request.object, ranges) if ranges else request.object

    return judge


def limit_checks(store: Callable[[], Store]) -> Admission:
    """Refuse new pods and claims that a LimitRange of their namespace does not allow."""

    def judge(request: Request) -> dict[str, Any]:
        if request.kind.kind in _LIMITED and request.verb == "create" and not request.subresource:
            ranges = store().list("LimitRange", namespace=request.key.namespace)
            errors = limit_range_errors(request.kind.kind, request.object, ranges) if ranges else []
            if errors:
                raise forbidden(request.kind, request.asked_name, aggregate(errors))
        return request.object

    return judge


def quota_checks(store: Callable[[], Store]) -> Admission:
    """Refuse new objects that would exceed a ResourceQuota of their namespace; this plugin comes last."""

    def judge(request: Request) -> dict[str, Any]:
        if request.verb == "create" and not request.subresource and request.kind.namespaced:
            for quota in store().list("ResourceQuota", namespace=request.key.namespace):
                why = quota_error(quota, request.kind, request.object, partial(_used, quota, store()))
                if why is not None:
                    raise forbidden(request.kind, request.asked_name, why)
        return request.object

    return judge


def _used(quota: Object, view: View) -> dict[str, Quantity]:
    """Return the amounts of a quota's bounds that its namespace uses."""
    namespace, hard = namespace_of(quota), spec_of(quota).get("hard") or {}
    used = total(
        usage_of(kind, obj)
        for kind in counted_kinds(quota)
        for obj in view.list(kind.kind, namespace=namespace)
        if applies(quota, kind, obj)
    )
    return {name: used.get(name, Quantity.parse("0")) for name in hard}


class ResourceQuotas:
    """The quota controller: writes the used amounts into the status. A key is (namespace, name)."""

    name = "resource-quotas"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer) -> None:
        self._view = view
        self._writer = writer

    def watches(self) -> Mapping[str, Router]:
        """Watch quotas, and the pods and claims that most of them count."""
        return {"ResourceQuota": key_by_place, "Pod": self._counted, "PersistentVolumeClaim": self._counted}

    def _counted(self, change: Change) -> Iterable[Hashable]:
        namespace = namespace_of(change.object)
        return [(namespace, name_of(quota)) for quota in self._view.list("ResourceQuota", namespace=namespace)]

    def reconcile(self, key: Hashable) -> Result:
        """Recount one quota."""
        assert isinstance(key, tuple)
        quota = self._view.get("ResourceQuota", key[1], key[0])
        if quota is None or is_terminating(quota):
            return DONE
        hard = {name: str(amount) for name, amount in parse_list(spec_of(quota).get("hard")).items()}
        used = {name: str(amount) for name, amount in _used(quota, self._view).items()}
        if status_of(quota) != {"hard": hard, "used": used}:
            status = {"status": {"hard": hard, "used": used}}
            self._writer.patch("ResourceQuota", key[1], status, namespace=key[0], subresource="status")
        return DONE
