"""ARM's token buckets: per subscription and kind of operation, refilled over (virtual) time.

Figures: learn.microsoft.com, "Understand how Azure Resource Manager throttles requests" (per subscription and principal).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.texts import failure
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Bucket:
    """`capacity` requests at once, `refill` more per second."""

    capacity: float
    refill: float


REAL_BUCKETS: Mapping[str, Bucket] = MappingProxyType(
    {"reads": Bucket(250, 25), "writes": Bucket(200, 10), "deletes": Bucket(200, 10)}
)
_KINDS: Mapping[str, str] = MappingProxyType({"GET": "reads", "DELETE": "deletes"})


class Throttle:
    """Counts requests against buckets; without buckets nothing is ever throttled."""

    def __init__(self, buckets: Mapping[str, Bucket] | None = None) -> None:
        """Use `buckets` (`reads`, `writes`, `deletes`), none by default."""
        self._buckets = buckets or {}
        self._levels: dict[tuple[str, str], tuple[float, float]] = {}

    def remaining(self, method: str, subscription: str, now: float) -> Mapping[str, str]:
        """Count one request that nothing limits against ARM's own figures. Returns the header with what remains; none where `take` does."""
        kind = _KINDS.get(method, "writes")
        if kind in self._buckets:
            return {}
        bucket = REAL_BUCKETS[kind]
        level, at = self._levels.get((subscription, kind), (bucket.capacity, now))
        level = max(1, min(bucket.capacity, level + (now - at) * bucket.refill))
        self._levels[(subscription, kind)] = (level - 1, now)
        return {f"x-ms-ratelimit-remaining-subscription-{kind}": str(int(level - 1))}

    def take(self, method: str, subscription: str, now: float) -> Mapping[str, str]:
        """Count one request. Returns the header with what remains; raises 429 with Retry-After when nothing does."""
        kind = _KINDS.get(method, "writes")
        bucket = self._buckets.get(kind)
        if bucket is None:
            return {}
        level, at = self._levels.get((subscription, kind), (bucket.capacity, now))
        level = min(bucket.capacity, level + (now - at) * bucket.refill)
        if level < 1:
            seconds = max(1, math.ceil((1 - level) / bucket.refill))
            base = failure("SubscriptionRequestsThrottled", operation=kind, subscription=subscription, seconds=seconds)
            raise ArmError(Failure(base.code, base.message, base.status, headers={"Retry-After": str(seconds)}))
        self._levels[(subscription, kind)] = (level - 1, now)
        return {f"x-ms-ratelimit-remaining-subscription-{kind}": str(int(level - 1))}
