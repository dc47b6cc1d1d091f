"""One command after the other, each in a folder of its own. The page's worker calls `answer`."""

import contextlib
import importlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: Names that a file may have. A link that somebody else made brings them.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")

#: Commands that draw what happened.
DRAWS = ("explain", "run", "simulate", "upgrade-check")


class NoInputError(Exception):
    """A command reads standard input."""


class NoInput(io.StringIO):
    """Standard input of a page, which has none: a command that reads it ends, rather than waiting or answering nothing."""

    @property
    def buffer(self) -> io.BytesIO:
        """Its bytes. NoInputError."""
        raise NoInputError


def answer(command: str, files: dict[str, str], picture: bool = False) -> tuple[str, int, bool, str]:
    """Returns what `harness COMMAND` prints beside the files, its exit code, and whether pydantic has to be fetched first.

    With `picture` the last value is the HTML page of the command, "" where it has none.
    """
    misnamed = next((name for name in files if NAME.fullmatch(name) is None), None)
    if misnamed is not None:
        return f"harness: {misnamed[:100]!r} is no name that a file can have\n", 2, False, ""
    page = ""
    written = io.BytesIO()
    out = io.TextIOWrapper(written, encoding="utf-8", newline="", write_through=True)  # a command may write bytes, too
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as drawn,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        _standard_input(NoInput()),
    ):
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8", errors="replace")
        try:
            words = shlex.split(command)
            draws = picture and bool(words) and words[0] in DRAWS and "--html" not in words
            drawing = Path(drawn) / "picture.html"  # beside the files, of which none may stand for what a command draws
            code = _run([*words, "--html", str(drawing)] if draws else words)
            page = drawing.read_text(encoding="utf-8") if draws and drawing.exists() else ""
        except ValueError as error:  # a quotation mark that does not close
            print(f"harness: {error}")
            code = 2
        except NoInputError:
            print("harness: standard input is what a browser does not give; name a file, or install the package")
            code = 3
        except ModuleNotFoundError as error:
            if error.name in ("pydantic", "pydantic_core"):
                return "", 1, True, ""
            print(f"harness: {error.name} needs what a browser does not give (sockets, processes); install the package")
            code = 3
    return written.getvalue().decode("utf-8", "replace"), code, False, page


@contextlib.contextmanager
def _standard_input(stream: io.TextIOBase) -> Iterator[None]:
    before, sys.stdin = sys.stdin, stream
    try:
        yield
    finally:
        sys.stdin = before


def _run(words: list[str]) -> int:
    os.environ |= {"NO_COLOR": "1", "COLUMNS": "100"}
    importlib.invalidate_caches()
    main = importlib.import_module("harness.__main__").main
    try:
        return int(main(words) or 0)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return int(end.code or 0)
