"""The times after which the autoscaler takes nodes away again.

Source: autoscaler core/static_autoscaler.go (isScaleDownInCooldown).
"""

from __future__ import annotations

from harness.clusterautoscaler.profile import Profile
from harness.engine.clock import LONG_AGO, nanoseconds
from lazyrecords import dataclass

__all__ = ["Cooldown"]


@dataclass(slots=True)
class Cooldown:
    """The moments of the last scale-up, of the last start of a deletion and of the last failure."""

    scale_up: int = LONG_AGO
    deletion: int = LONG_AGO
    failure: int = LONG_AGO

    def until(self, profile: Profile) -> int:
        """Return the moment from which nodes may go."""
        return max(
            self.scale_up + nanoseconds(profile.scale_down_delay_after_add),
            self.failure + nanoseconds(profile.scale_down_delay_after_failure),
            self.deletion + nanoseconds(profile.scale_down_delay_after_delete),
        )
