"""Functions run as they were written, but for the one whose change is tried: each place that asks for its change costs time."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

FOLDER = "originals"
"""Of a session, with the changed files as they were."""
_WITHIN = ".<locals>"


class Originals:
    """The functions of changed files, which have the code of the files as they were.

    ``sources`` is a folder with those files; the changed ones stand at the same paths below ``root``.
    """

    def __init__(self, root: Path, sources: Path) -> None:
        written = {
            str(root / file.relative_to(sources)): str(file.relative_to(sources)) for file in sources.rglob("*.py")
        }
        known = {
            name: {
                (code.co_qualname, code.co_firstlineno): code for code in _codes((sources / path).read_bytes(), name)
            }
            for name, path in written.items()
        }
        self._changed: dict[tuple[str, str], list[tuple[FunctionType, CodeType]]] = defaultdict(list)
        gc.unfreeze()  # what is frozen is not among the objects
        for found in gc.get_objects():
            if type(found) is not FunctionType or (path := written.get(found.__code__.co_filename)) is None:
                continue
            changed = found.__code__
            code = known[changed.co_filename].get((changed.co_qualname, changed.co_firstlineno))
            if code is not None and code.co_freevars == changed.co_freevars:
                self._changed[path, changed.co_qualname.split(_WITHIN)[0]].append((found, changed))
                found.__code__ = code

    def change(self, path: str, function: str) -> None:
        """Gives a function, and those that it made, the code with all changes, of which one may be on."""
        for found, changed in self._changed[path, function]:
            found.__code__ = changed


def _codes(source: bytes, name: str) -> Iterator[CodeType]:
    waiting = [compile(source, name, "exec", dont_inherit=True)]
    while waiting:
        below = [each for each in waiting.pop().co_consts if isinstance(each, CodeType)]
        yield from below
        waiting += below
