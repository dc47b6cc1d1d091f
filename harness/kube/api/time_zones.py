"""Time zones by their names in the IANA database, as Go's time.LoadLocation finds them."""

from __future__ import annotations

from datetime import UTC, tzinfo

__all__ = ["TimeZoneError", "time_zone"]


class TimeZoneError(ValueError):
    """A name of no time zone; the message is Go's."""


def time_zone(name: str) -> tzinfo:
    """Return a time zone. Raises TimeZoneError for an unknown one, also where this machine has no database of them."""
    if name in ("", "UTC"):
        return UTC
    from zoneinfo import ZoneInfo  # only such a CronJob needs it

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # a name that the database lacks, a folder of it, no name of a file
        raise TimeZoneError(f"unknown time zone {name}") from None
