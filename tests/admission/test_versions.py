"""Versions as texts and as numbers."""

import pytest

from fakeazure.aks.kubernetes import minor_version
from harness.kube.api.versions import Version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.34.2", Version(1, 34, 2)),
        ("v1.34.2", Version(1, 34, 2)),
        (" 1.34", Version(1, 34, 0)),
        ("1", Version(1, 0, 0)),
        ("1.34.0-rc.1", Version(1, 34, 0, final=False)),
        ("1.34.2+build", Version(1, 34, 2)),
        ("1.34.x", Version(1, 34, 0)),
        ("", None),
        ("latest", None),
        ("v", None),
    ],
)
def test_a_text(text: str, version: Version | None) -> None:
    assert Version.find(text) == version


def test_versions_compare_as_numbers() -> None:
    assert max("1.9.0", "1.10.0", "1.4.0", key=Version.of) == "1.10.0"
    assert Version.of("1.34.0") >= (1, 34)
    assert Version.of("1.33.9") < (1, 34)


@pytest.mark.parametrize(
    ("text", "version"), [("1.28.15", (1, 28)), ("v1.29.0", (1, 29)), ("", (0, 0)), ("newest", (0, 0))]
)
def test_what_aks_reads(text: str, version: tuple[int, int]) -> None:
    assert minor_version(text) == version
