"""Versions as texts and as numbers."""

import pytest

from fakeazure.aks.kubernetes import minor_version
from harness.kube.api.versions import Version, version_mistake


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
    assert max("1.9.0", "1.10.0", "1.4.0", key=Version.parse) == "1.10.0"
    assert Version.parse("1.34.0") >= (1, 34)
    assert Version.parse("1.33.9") < (1, 34)


@pytest.mark.parametrize(
    ("text", "version"), [("1.28.15", (1, 28)), ("v1.29.0", (1, 29)), ("", (0, 0)), ("newest", (0, 0))]
)
def test_what_aks_reads(text: str, version: tuple[int, int]) -> None:
    assert minor_version(text) == version


@pytest.mark.parametrize(
    ("text", "reached"),
    [("1.34.0", True), ("1.34", True), ("1.34.1", True), ("1.34.0-rc.1", False), ("1.33.9", False), ("2.0.0", True)],
)
def test_a_version_reaches_a_line_from_its_first_release_on(text: str, reached: bool) -> None:
    assert Version.parse(text).reaches((1, 34)) is reached


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("1.26.0", ""),
        ("v1.37", ""),
        ("1.30.99", ""),
        ("1.25.9", "Kubernetes 1.25.9 is not known here; known are 1.26 to 1.37"),
        ("1.38", "Kubernetes 1.38 is not known here; known are 1.26 to 1.37"),
        ("2.30.0", "Kubernetes 2.30.0 is not known here; known are 1.26 to 1.37"),
        ("1", "a version such as 1.34.2 is expected, not '1'"),
        ("latest", "a version such as 1.34.2 is expected, not 'latest'"),
    ],
)
def test_what_is_wrong_with_a_version(text: str, mistake: str) -> None:
    assert version_mistake(text) == mistake
