"""Wheels in, one archive out, compiled by the Python that will run it. `build.mjs` calls `archive`."""

import io
import py_compile
import tarfile
import tempfile
import zipfile
from pathlib import Path

#: What no command of the project imports.
LEFT_OUT = ("pydantic/v1/", "pydantic/mypy.py", "pydantic/_hypothesis_plugin.py")


def archive(wheels: str) -> bytes:
    """Returns a tar.xz of the compiled modules and the data of all wheels in a folder."""
    made = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=made, mode="w:xz", preset=9) as out:
        for wheel in sorted(Path(wheels).iterdir()):
            with zipfile.ZipFile(wheel) as parts:
                parts.extractall(folder)
        for path in sorted(Path(folder).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_dir() or name.startswith(LEFT_OUT) or ".dist-info/" in name:
                continue
            if path.suffix == ".py":
                compiled = path.with_suffix(".pyc")
                py_compile.compile(
                    str(path),
                    str(compiled),
                    name,
                    doraise=True,
                    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
                )
                name, path = f"{name}c", compiled
            # no date and no owner, so that the same wheels give the same bytes
            entry = tarfile.TarInfo(name)
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                out.addfile(entry, content)
    return made.getvalue()
