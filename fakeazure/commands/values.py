"""The forms of a command's arguments: numbers within bounds, addresses, files that can be read."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path

from atomicfiles.inputs import read_input
from fakeazure.catalog.errors import CatalogueError

_HOST_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})")


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number from `least` to `most`."""

    def read(text: str) -> int:
        try:
            number: float = int(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"a number from {least} to {most} is expected, not {text!r}")
        return int(number)

    return read


def positive(text: str) -> float:
    """A number above 0 that is one."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"a number above 0 is expected, not {text!r}")
    return number


def host_and_port(text: str) -> str:
    """HOST:PORT."""
    match = _HOST_PORT.fullmatch(text)
    if match is None or not 0 < int(match[1]) <= 65535:
        raise argparse.ArgumentTypeError(f"HOST:PORT is expected, e.g. 127.0.0.1:6443, not {text!r}")
    return text


def named(text: str) -> str:
    """A text that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a name is expected, not nothing")
    return text


def text_of(path: Path) -> str:
    """The text of a user's file. CatalogueError for one that cannot be read."""
    try:
        return read_input(path).decode()
    except OSError as error:
        raise CatalogueError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise CatalogueError(f"{path}: no UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}") from None
