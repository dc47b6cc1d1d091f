"""The forms of the parts of models in the Python SDKs: reads `{name: form}` from standard input, prints the names whose form differs.

Run by the SDKs' own Python: `python -m tests.clients.model_forms`.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

PACKAGES = ("compute", "network", "containerservice", "msi")
_FORMS = {
    "a string": ("str", "Union[str"),
    "a number": ("int", "float"),
    "a whole number": ("int",),
    "an object": ("_models.", "JSON", "dict["),
    "a list of objects": ("list[_models.", "list['_models."),
    "a list of strings": ("list[str", "list[Union[str"),
    "an object of strings": ("dict[str, str",),
}
"""Words for a form → the beginnings of the annotations that mean it."""


def parts(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """Yield model, name on the wire and annotation of each part of the models in a module."""
    for model in vars(module).values():
        if not inspect.isclass(model):
            continue
        for attribute, annotation in vars(model).get("__annotations__", {}).items():
            field: Any = vars(model).get(attribute)
            name = getattr(field, "__dict__", {}).get("_rest_name_input") or attribute
            yield model.__name__, name, _plain(annotation)


def _plain(annotation: Any) -> str:
    text = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
    for noise in ("typing.", "ForwardRef(", "'"):
        text = text.replace(noise, "")
    return text.removeprefix("Optional[")


def main() -> None:
    """Print a line for each model whose part has another form than the one that was given for its name."""
    forms: dict[str, str] = json.load(sys.stdin)
    asked = 0
    for package in PACKAGES:
        root = import_module(f"azure.mgmt.{package}")
        for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            if not module.name.endswith("._models"):
                continue
            for model, name, annotation in parts(import_module(module.name)):
                if name not in forms:
                    continue
                asked += 1
                if not annotation.startswith(_FORMS[forms[name]]):
                    sys.stdout.write(f"{package} {model}.{name}: {annotation}, not {forms[name]}\n")
    sys.stderr.write(f"{asked} parts\n")


if __name__ == "__main__":
    main()
