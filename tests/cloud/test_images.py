"""Node images: which versions are published, and what a mistake in them says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fakeazure.catalog.images import DEFINITIONS, published_date, released
from fakeazure.market.images import Images, chosen
from fakeazure.market.wording import MarketError

_FEBRUARY = datetime(2026, 2, 1, tzinfo=UTC).timestamp()


def test_without_a_word_only_the_recorded_version_is_there() -> None:
    """As it was recorded, an older one for FIPS images of Ubuntu 22.04."""
    images = Images()
    assert images.versions("2404gen2containerd", _FEBRUARY) == ("202512.18.0",)
    assert images.versions("2204fipscontainerd", _FEBRUARY) == ("202404.09.0",)


def test_versions_come_out_on_their_days() -> None:
    """None of tomorrow, newest first; those of release notes follow one another in time."""
    images = Images()
    images.change("released")
    found = images.versions("2404gen2containerd", _FEBRUARY)
    assert found[:4] == ("202601.27.0", "202601.13.0", "202601.07.0", "202512.18.0")
    assert images.versions("V3gen2", _FEBRUARY - 6 * 86400)[0] == "202601.13.0"
    for definition in DEFINITIONS:
        versions = released(definition)
        assert list(versions) == sorted(versions, key=published_date)


def test_versions_of_release_notes_begin_with_2025() -> None:
    """The first that each series' notes tell, by image."""
    first = {definition: released(definition)[0] for definition in ("2204gen2containerd", "2404containerd", "V3gen2")}
    assert first == {"2204gen2containerd": "202501.05.0", "2404containerd": "202501.22.0", "V3gen2": "202501.05.0"}


@pytest.mark.parametrize(
    ("version", "day"),
    [
        ("202512.18.0", "2025-12-18"),
        ("202512.7", "2025-12-07"),
        ("20251.18.0", "2025-01-01"),
        ("latest.18.0", "2025-01-01"),
        ("202512.x.0", "2025-01-01"),
        ("202512", "2025-01-01"),
    ],
)
def test_the_day_of_a_version_is_in_its_name(version: str, day: str) -> None:
    """The beginning of 2025 where it is not."""
    assert published_date(version) == f"{day}T00:00:00+00:00"


def test_what_is_published_here_is_the_newest() -> None:
    """By the longest name that says it."""
    images = Images()
    images.change({"2404": "202601.13.0", "2404gen2containerd": "202601.20.0"})
    assert images.versions("2404gen2containerd", _FEBRUARY)[:2] == ("202601.20.0", "202512.18.0")
    assert images.versions("2404containerd", _FEBRUARY)[0] == "202601.13.0"
    images.publish("2404containerd", "202601.20.0")
    images.publish("2404containerd", "202601.13.0")
    assert images.versions("2404containerd", _FEBRUARY)[:2] == ("202601.13.0", "202601.20.0")


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("relased", "'released' is expected, or versions by image, not 'relased'"),
        ({"2440": "202601.13.0"}, "no node image is called so"),
        ({"2404": "tomorrow"}, "a version such as 202601.13.0 is expected, not 'tomorrow'"),
    ],
)
def test_mistakes(spec: str | dict[str, str], text: str) -> None:
    """The message says what is expected."""
    with pytest.raises(MarketError, match=text.replace("(", r"\(")):
        Images().change(spec)
    if isinstance(spec, dict):
        with pytest.raises(MarketError):
            chosen(spec)
