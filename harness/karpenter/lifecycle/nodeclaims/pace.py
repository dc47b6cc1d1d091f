"""The time that the NodeClaim lifecycle takes over its steps, in virtual time."""

from __future__ import annotations

from lazyrecords import dataclass

__all__ = ["Pace"]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of each step. The defaults were measured with the real controller 1.14.0 and an Azure that answers at once.

    `request`: from the first look at a NodeClaim to the first call that makes its machine (100 ms). `answer`: from each such call until its
    outcome is in the NodeClaim's status (refused calls came 1.026 s apart, of which 1 s is the retry's delay); a controller that stops
    in between leaves a machine behind that no object knows of. `registration`: from the creation of the Node to its registration.
    `initialization`: from the moment when the Node is complete to its label karpenter.sh/initialized.
    """

    request: float = 0.1
    answer: float = 0.025
    registration: float = 0.2
    initialization: float = 0.0
