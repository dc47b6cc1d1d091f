"""A market read from a file: JSON or YAML. Every mistake is named with the line where it stands, all of them at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from fakeazure.catalog.errors import CatalogueError
from fakeazure.commands.outputs import write_text
from fakeazure.commands.values import text_of
from fakeazure.market.facts import CatalogueLike
from fakeazure.market.spec import market_mistakes
from plainlines import joined, print_line

Place = tuple[str | int, ...]
Understood = TypeVar("Understood")


def read_market(path: Path, catalogue: CatalogueLike, region: str) -> Mapping[str, Any]:
    """The description of the market of a world in `region`. CatalogueError with a line for each mistake."""
    # YAML has no tabs where JSON may have them; outside of texts they mean a blank.
    text = text_of(path).replace("\t", " ")
    with suppress(ValueError, RecursionError):  # a whole price list takes seconds as YAML
        document = json.loads(text)
        if isinstance(document, dict) and not market_mistakes(catalogue, document, region=region):
            return document
    import yaml  # only who gives such a file needs it

    try:
        node = yaml.compose(text, yaml.SafeLoader)
        document = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise CatalogueError(f"{path}{where}: neither JSON nor YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CatalogueError(f"{path}: neither JSON nor YAML: {str(error).splitlines()[0]}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise CatalogueError(f"{path}:1:1: expected an object")
    mistakes = market_mistakes(catalogue, document, region=region)
    if mistakes:
        ordered = sorted((_mark(node, mistake.place), str(mistake)) for mistake in mistakes)
        raise CatalogueError(joined(f"{path}:{line}:{column}: {text}" for (line, column), text in ordered))
    return document


def _mark(node: Any, place: Place) -> tuple[int, int]:
    """Line and column of the field at `place`, or of what is nearest above it."""
    for step in place:
        inner = _inner(node, step)
        if inner is None:
            break
        node = inner
    return node.start_mark.line + 1, node.start_mark.column + 1


def _inner(node: Any, step: str | int) -> Any:
    if isinstance(step, int) and isinstance(node.value, list) and node.id == "sequence":
        return node.value[step] if step < len(node.value) else None
    if node.id == "mapping":
        return next((value for key, value in node.value if key.value == str(step)), None)
    return None


def read_json(path: Path, understand: Callable[[Any], Understood]) -> Understood:
    """Return the content of a JSON file. CatalogueError that names the file."""
    text = text_of(path)
    try:
        return understand(json.loads(text))
    except CatalogueError as error:
        raise CatalogueError(f"{path}: {error}") from None
    except json.JSONDecodeError as error:
        raise CatalogueError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise CatalogueError(f"{path}: nested too deep") from None


def write_market(path: Path, sections: Mapping[str, Any]) -> None:
    """Put sections of a market into a file of JSON; others that it has stay."""
    before: dict[str, Any] = {}
    if path.exists():
        before = read_json(path, lambda document: document if isinstance(document, dict) else {})
    write_text(path, json.dumps({**before, **sections}, indent=1) + "\n")
    print_line(f"written to {path}")
