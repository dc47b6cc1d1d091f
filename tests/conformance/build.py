"""Builds the oracle: the real Go code of one release of karpenter-provider-azure behind the protocol of PROTOCOL.md.

The sources are found under the folder that KARPENTER_SOURCES names: a source archive (``karpenter-provider-azure-v1.14.0.tar.xz``, also
``.tar.gz``), an unpacked tree of that name, or a git clone that has the tag. Binaries are kept in the user's cache folder, named by the
content that they were made of, and made again only when that changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tools.core_crds import on_other_core
from tools.crd_tables import definitions

__all__ = [
    "BUILDABLE",
    "UNRELEASED",
    "BuildError",
    "Oracle",
    "build",
    "cache_folder",
    "find_source",
    "has_extension",
    "oracle_program",
    "takes_attach_limits",
]

ORACLE = Path(__file__).resolve().parent / "oracle"
NAME = "karpenter-provider-azure"
CORE = "sigs.k8s.io/karpenter"
#: the parts of the oracle that only some releases have, and the glue that says so
EXTENSIONS = {"disruption": "disrupt_glue.go", "overlays": "overlays_glue.go", "static": "static_glue.go"}
GO_ENVIRONMENT = {"GOWORK": "off", "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.removeprefix("v").split("."))


_GLUED = tuple(folder.name.removeprefix("v") for folder in (ORACLE / "releases").iterdir())

#: the releases that there is glue for, oldest first
BUILDABLE: tuple[str, ...] = tuple(sorted((name for name in _GLUED if name[0].isdigit()), key=_number))

#: what there is glue for, and no release yet: built only where it is named
UNRELEASED: tuple[str, ...] = tuple(sorted(name for name in _GLUED if not name[0].isdigit()))


class BuildError(Exception):
    """What is missing, in one line."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """A built oracle: its release and its path."""

    release: str
    path: Path


def cache_folder() -> Path:
    """Where built oracles lie: ``CONFORMANCE_CACHE`` or the user's cache folder."""
    named = os.environ.get("CONFORMANCE_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "karpenter-azure-harness" / "oracles"


def sources_folder() -> Path:
    """The folder that KARPENTER_SOURCES names; BuildError when it names none."""
    named = os.environ.get("KARPENTER_SOURCES")
    if not named:
        raise BuildError(
            f"KARPENTER_SOURCES is not set: it names a folder with {NAME}-vX.Y.Z.tar.xz, unpacked trees or a git clone"
        )
    folder = Path(named).expanduser().resolve()
    if not folder.is_dir():
        raise BuildError(f"KARPENTER_SOURCES: {named} is not a folder")
    return folder


@dataclass(frozen=True, slots=True)
class Source:
    """One release's source: an archive, a tree, or a clone and its tag."""

    kind: str
    path: Path
    revision: str = ""

    def identity(self) -> str:
        """Changes when the source does."""
        if self.kind == "archive":
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        if self.kind == "clone":
            return self.revision
        digest = hashlib.sha256()
        for file in _files(self.path):
            digest.update(str(file.relative_to(self.path)).encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()

    def unpack(self, target: Path) -> None:
        """Writes the tree to `target`, which does not exist yet."""
        if self.kind == "tree":
            shutil.copytree(self.path, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            return
        if self.kind == "archive":
            with tarfile.open(self.path) as archive:
                _extract(archive, target)
            return
        command = ["git", "-C", str(self.path), "archive", f"--prefix={NAME}/", self.revision]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE) as process,
            tarfile.open(fileobj=process.stdout, mode="r|") as archive,
        ):
            _extract(archive, target)
        if process.returncode:
            raise BuildError(f"git archive {self.revision} failed in {self.path}")


def _extract(archive: tarfile.TarFile, target: Path) -> None:
    """Unpacks an archive whose files lie in one folder, into `target`."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
        (root,) = Path(folder).iterdir()
        root.rename(target)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".git" not in path.relative_to(folder).parts:
            yield path


def find_source(release: str, folder: Path | None = None) -> Source | None:
    """The source of `release` (``1.14.0``) in KARPENTER_SOURCES or `folder`, or None."""
    folder, release = folder or sources_folder(), Module.of(release).source or release
    for name in (f"{NAME}-v{release}", f"{NAME}-{release}", f"v{release}"):
        for suffix in (".tar.xz", ".tar.gz", ".tgz", ".tar"):
            if (folder / (name + suffix)).is_file():
                return Source("archive", folder / (name + suffix))
        if (folder / name / "go.mod").is_file():
            return Source("tree", folder / name)
    for clone in (folder, folder / NAME):
        if (clone / ".git").exists():
            command = ["git", "-C", str(clone), "rev-parse", "--verify", "--quiet", f"v{release}^{{commit}}"]
            found = subprocess.run(command, capture_output=True, text=True, check=False)
            if found.returncode == 0:
                return Source("clone", clone, found.stdout.strip())
    return None


@dataclass(frozen=True, slots=True)
class Module:
    """What stands in ``module.json`` beside the glue of a release that is built otherwise than its go.mod says.

    ``source`` names the sources instead of the release, ``core`` the version of core, ``requires`` other modules; ``replaces`` names
    modules whose version is this one, whatever others require: more is linked into the oracle than into the controller.
    """

    source: str = ""
    core: str = ""
    requires: Mapping[str, str] = field(default_factory=dict)
    replaces: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, release: str) -> Module:
        path = _of_release(release, "module.json")
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls()


def _of_release(release: str, name: str) -> Path:
    return ORACLE / "releases" / f"v{release}" / name


def _glue(release: str) -> list[Path]:
    """The folders of glue for `release`: its own, after those of the releases before it, whose files count where it has none."""
    before = BUILDABLE[: BUILDABLE.index(release)] if release in BUILDABLE else ()
    return [ORACLE / "releases" / f"v{each}" for each in (*before, release)]


def has_extension(release: str, extension: str) -> bool:
    """Whether the oracle of `release` has a part that not all have: there is glue for it."""
    return any((folder / EXTENSIONS[extension]).exists() for folder in _glue(release))


def takes_attach_limits(release: str) -> bool:
    """Whether instance types can say how many volumes their nodes attach: the oracle reads them in a file of its own."""
    return _of_release(release, "catalog.go").exists()


def oracle_program(release: str) -> list[Path]:
    """The Go files of the oracle of `release`; of files of one name that of the release counts, or of the nearest before it."""
    parts = [ORACLE / each for each in EXTENSIONS if has_extension(release, each)]
    folders = [ORACLE, *parts, *_glue(release)]
    return list({file.name: file for folder in folders for file in sorted(folder.glob("*.go"))}.values())


def build(release: str, *, log: bool = True) -> Oracle:
    """The oracle of `release`, from the cache or built now (4 to 10 minutes when Go's own caches are cold, else seconds).

    Raises BuildError with one line that says what is missing.
    """
    if release not in (*BUILDABLE, *UNRELEASED):
        raise BuildError(f"there is no oracle for {release}; there is one for {', '.join(BUILDABLE)}")
    for tool, purpose in (("go", "to build the oracle"), ("git", "to apply the oracle's patches")):
        if shutil.which(tool) is None:
            raise BuildError(f"{tool} is not installed; it is needed {purpose}")
    source = find_source(release)
    if source is None:
        raise BuildError(f"no source of release {release} in KARPENTER_SOURCES={os.environ.get('KARPENTER_SOURCES')}")
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / f"oracle-v{release}-{_key(release, source)}"
    if path.exists():
        return Oracle(release, path)
    with (cache / f".lock-v{release}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # somebody else may be building the same
        if not path.exists():
            start = time.monotonic()
            _say(log, f"building the oracle of {release} from {source.path} …")
            with tempfile.TemporaryDirectory(dir=cache, prefix="build-") as work:
                _compile(release, source, Path(work), path)
            _say(log, f"built {path.name} in {time.monotonic() - start:.0f} s")
    return Oracle(release, path)


def _key(release: str, source: Source) -> str:
    digest = hashlib.sha256(_go("version").encode())
    digest.update(source.identity().encode())
    changes = (_of_release(release, name) for name in ("module.json", "provider.patch", "core.patch"))
    files = (*oracle_program(release), *sorted((ORACLE / "patches").iterdir()), *filter(Path.exists, changes))
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _compile(release: str, source: Source, work: Path, target: Path) -> None:
    provider, core = work / "provider", work / "core"
    source.unpack(provider)
    module = _on_other_modules(release, provider)
    shutil.copytree(module["Dir"], core)
    for path in (core, *core.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)  # the module cache is read-only
    for patch in (
        ORACLE / "patches" / "determinism.patch",
        ORACLE / "patches" / f"determinism-{module['Version']}.patch",
        ORACLE / "patches" / f"disruption-{module['Version']}.patch",
        _of_release(release, "core.patch"),
    ):
        if patch.exists():
            # -C1: between core releases the lines around a change differ, the changed ones do not
            _run(
                ["git", "apply", "-C1", "-p1", str(patch)],
                core,
                f"{patch.name} does not apply to core {module['Version']}",
            )
    _go("mod", "edit", "-replace", f"{CORE}={core}", folder=provider)
    program = provider / "cmd" / "oracle"
    program.mkdir(parents=True)
    for file in oracle_program(release):
        shutil.copy(file, program)
    shutil.copytree(provider / "pkg" / "apis" / "crds", program / "crds")
    flags = f"-s -w -X main.release=v{release} -X main.coreVersion={module['Version']}"
    built = work / "oracle"
    _go("build", "-buildvcs=false", "-trimpath", "-ldflags", flags, "-o", str(built), "./cmd/oracle", folder=provider)
    for old in target.parent.glob(f"oracle-v{release}-*"):
        if time.time() - old.stat().st_mtime > 86_400:
            old.unlink()
    shutil.move(built, target)


def _on_other_modules(release: str, provider: Path) -> Mapping[str, str]:
    """The module of core, after what ``module.json`` and ``provider.patch`` change in the unpacked sources."""
    wanted = Module.of(release)
    patch = _of_release(release, "provider.patch")
    if patch.exists():
        _run(
            ["git", "apply", "-p1", str(patch)], provider, f"{patch.name} does not apply to {wanted.source or release}"
        )
    for name, version in wanted.replaces.items():
        _go("mod", "edit", f"-replace={name}={name}@{version}", folder=provider)
    own: Mapping[str, str] = json.loads(_go("mod", "download", "-json", CORE, folder=provider))
    if not wanted.core:
        return own
    crds = provider / "pkg" / "apis" / "crds"
    for name, version in {**wanted.requires, CORE: wanted.core}.items():
        _go("mod", "edit", f"-require={name}@{version}", folder=provider)
    other: Mapping[str, str] = json.loads(_go("mod", "download", "-json", CORE, folder=provider))
    # the main module says which Go it takes, and GOTOOLCHAIN=auto brings it
    language = re.search(r"^go (\S+)", (Path(other["Dir"]) / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    if language is not None:
        _go("mod", "edit", f"-go={language[1]}", folder=provider)
    found = (definitions(Path(folder) / "pkg/apis/crds") for folder in (provider, own["Dir"], other["Dir"]))
    for crd in on_other_core(*found):
        (crds / f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml").write_text(yaml.safe_dump(crd))
    return other


def _go(*arguments: str, folder: Path | None = None) -> str:
    return _run(["go", *arguments], folder, f"go {arguments[0]} failed")


def _run(command: list[str], folder: Path | None, failure: str) -> str:
    environment = {**os.environ, **GO_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(folder.parent) if folder else ""}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        last = [line for line in (result.stderr + result.stdout).splitlines() if line.strip()][-12:]
        raise BuildError(f"{failure}: " + "\n  ".join(last))
    return result.stdout


def _say(log: bool, text: str) -> None:
    if log:
        print(text, file=sys.stderr, flush=True)
