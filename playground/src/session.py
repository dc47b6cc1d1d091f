"""One command after the other, each in a folder of its own. The page's worker calls `answer`."""

import contextlib
import importlib
import io
import os
import shlex
import sys
import tempfile
from pathlib import Path


def answer(command: str, files: dict[str, str]) -> tuple[str, int, bool]:
    """Returns what `harness COMMAND` prints beside the files, its exit code, and whether pydantic has to be fetched first."""
    out = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        for name, text in files.items():
            Path(Path(name).name).write_text(text, encoding="utf-8")
        try:
            code = _run(shlex.split(command))
        except ValueError as error:  # a quotation mark that does not close
            print(f"harness: {error}")
            code = 2
        except ModuleNotFoundError as error:
            if error.name == "pydantic":
                return "", 1, True
            print(f"harness: {error.name} needs what a browser does not give (sockets, processes); install the package")
            code = 3
    return out.getvalue(), code, False


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
