"""The CRDs of a world by their name in a file: a release, whose tables we have, or a directory of CRD files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.clusters.crd_files import CrdFiles
    from harness.reading.problems import Problem

__all__ = ["CelEngineMissing", "CrdDirectories", "UnknownCrds", "unknown_crds"]


class CelEngineMissing(Exception):
    """CRD files are named and the extra ``crds``, which evaluates their rules, is not installed."""


class UnknownCrds(ValueError):
    """Neither a release nor a usable directory; `what` is the mistake in the name, and `hint` the right way.

    `problems` are the mistakes in the directory's files, with their places.
    """

    def __init__(self, mistake: str, hint: str = "", problems: Sequence[Problem] = ()) -> None:
        self.what, self.hint, self.problems = mistake, hint, tuple(problems)
        super().__init__(f"{mistake}; {hint}" if hint else mistake)


def unknown_crds(name: str, base: Path) -> UnknownCrds | None:
    """Return why a name is neither a release nor a directory below `base`; None when it is one."""
    from harness.karpenter.releases import ALL_PROVIDER_RELEASES, KNOWN_RELEASES
    from harness.karpenter.releases.policies import POLICIES
    from harness.wording import did_you_mean

    bare = name.removeprefix("v")
    if _release(name) or (base / name).is_dir():
        return None
    if name.partition("@")[0] in POLICIES:
        return UnknownCrds(
            f"'{name}' is a policy, not a release",
            "a policy is one of controller and CRDs together, for the whole scenario: given.policy",
        )
    hint = did_you_mean(bare, KNOWN_RELEASES, limit=0)
    known_releases = f"known are {ALL_PROVIDER_RELEASES[0]} to {ALL_PROVIDER_RELEASES[-1]}, or a directory of CRD files"
    return UnknownCrds(f"unknown release '{name}', and no directory {base / name}", hint or known_releases)


def _release(name: str) -> str:
    """The version of a release, of the newest one of a line (``1.6``); empty when there is none."""
    from harness.karpenter.releases import UnknownRelease, releases_of

    try:
        return releases_of(name)[-1]
    except UnknownRelease:
        return ""


class CrdDirectories:
    """Finds CRDs; each directory is read and compiled once, so a run should have one of these."""

    def __init__(self) -> None:
        self._read: dict[Path, CrdFiles] = {}

    def named(self, name: str, base: Path) -> str | CrdFiles:
        """The release of that name as it is, or the files in that directory, relative to `base`.

        Raises UnknownCrds, and CelEngineMissing.
        """
        from harness.clusters.crd_files import CelEngineMissing as Missing
        from harness.clusters.crd_files import CrdFileError, CrdFiles

        release = _release(name)
        if release:
            return release
        unknown = unknown_crds(name, base)
        if unknown is not None:
            raise unknown
        directory = (base / name).resolve()
        if directory not in self._read:
            try:
                files = CrdFiles(directory, os.path.normpath(base / name))
                files.compile()
            except Missing as error:
                raise CelEngineMissing(str(error)) from None
            except CrdFileError as error:
                raise UnknownCrds(str(error), problems=error.problems) from None
            self._read[directory] = files
        return self._read[directory]
