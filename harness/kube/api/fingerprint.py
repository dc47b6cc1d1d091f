"""One key for all equal JSON values."""

from __future__ import annotations

import marshal
from collections.abc import Hashable
from typing import Any

from harness.kube.api.objects import copy_json


def fingerprint(value: Any) -> Hashable:
    """Return a hashable key, equal for equal JSON values whose dictionaries have the same order."""
    try:
        return marshal.dumps(value, 2)  # version 2 has no back references, so that it depends on values only
    except ValueError:
        return marshal.dumps(copy_json(value), 2)
