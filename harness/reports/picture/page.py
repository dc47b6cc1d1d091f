"""One file of HTML: the data as JSON, the built script and style, and a policy that lets nothing else in."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from plainlines import printable

__all__ = ["page"]


def page(title: str, data: Mapping[str, Any]) -> str:
    """The document. `title` also stands where scripts do not run; `data` is what `picture/src/main.js` reads."""
    title = printable(title)
    script, style = _built("picture.js"), _built("picture.css")
    policy = f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main id="page"><h1>{escape(title)}</h1>'
        "<noscript><p>A script in this file draws the page; --format json has the same facts.</p></noscript></main>\n"
        f'<script type="application/json" id="data">{_json(data)}</script>\n<script>{script}</script>\n</body>\n</html>\n'
    )


def _json(data: Mapping[str, Any]) -> str:
    """The data in ASCII, without a character that could end the element it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _built(name: str) -> str:
    return files(__package__).joinpath("built", name).read_text(encoding="utf-8").strip()


def _source(text: str) -> str:
    """The text as a source of a Content-Security-Policy: its hash."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
