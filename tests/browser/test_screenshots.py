"""What Chromium draws beside what it drew when somebody looked at it. Text is made invisible and the picture small, for fonts differ."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Opened

KEPT = Path(__file__).parent / "screenshots"
TOLERANCE = 1.5
"""Of 255, the mean over the cells of the small picture."""

PICTURES = [
    ("refused", "svg.lanes", "light", 1280),
    ("replaced", "svg.lanes", "dark", 1280),
    ("evicted", "svg.lanes", "light", 400),
    ("replaced", "#cost svg", "light", 1280),
]
HIDE = "*,*::before,*::after{color:transparent!important;fill-opacity:1;transition:none!important} svg text{fill:transparent!important}"
STYLE = (
    "(text) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text); document.adoptedStyleSheets = [sheet] }"
)
WHOLE = "(one) => { const y = one.getBoundingClientRect().y; one.style.marginTop = `${Math.ceil(y) - y}px` }"
"""A part that begins on a whole pixel is drawn the same wherever the page has it."""
SMALL = """async ([one, other]) => {
  const load = async (text) => {
    const image = Object.assign(new Image(), { src: 'data:image/png;base64,' + text });
    await image.decode();
    return image;
  };
  const [a, b] = await Promise.all([load(one), load(other)]);
  const width = Math.ceil(a.width / 8), height = Math.ceil(a.height / 8);
  const cells = [a, b].map((image) => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  });
  let sum = 0;
  for (let index = 0; index < cells[0].length; index++) sum += Math.abs(cells[0][index] - cells[1][index]);
  return { mean: sum / (width * height * 3), sizes: [[a.width, a.height], [b.width, b.height]] };
}"""


Picture = tuple[str, str, str, int]


@pytest.fixture
def drawn(made: Callable[[str], Path], open_page: Callable[..., Opened]) -> Callable[..., bytes]:
    def screenshot(picture: Picture, style: str = "") -> bytes:
        name, selector, scheme, width = picture
        page = open_page(made(name), scheme=scheme, width=width)
        page.tab.evaluate(STYLE, HIDE + style)
        part = page.tab.locator(selector).first
        part.evaluate(WHOLE)
        data: bytes = part.screenshot()
        return data

    return screenshot


def differences(browser: Any, one: bytes, other: bytes) -> Any:
    tab = browser.new_page()
    try:
        return tab.evaluate(SMALL, [b64encode(one).decode(), b64encode(other).decode()])
    finally:
        tab.close()


def kept(picture: Picture) -> Path:
    name, selector, scheme, width = picture
    return KEPT / f"{name}-{selector.strip('#').replace(' ', '-').replace('.', '-')}-{scheme}-{width}.png"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: kept(picture).stem)
def test_it_looks_as_it_did(
    picture: Picture, drawn: Callable[..., bytes], browser: Any, request: pytest.FixtureRequest
) -> None:
    now, file = drawn(picture), kept(picture)
    if request.config.getoption("--update-screenshots"):
        KEPT.mkdir(exist_ok=True)
        file.write_bytes(now)
    found = differences(browser, file.read_bytes(), now)
    (was, is_) = found["sizes"]
    assert is_ == pytest.approx(was, abs=8), f"{file.name}: {was} became {is_}"
    assert found["mean"] < TOLERANCE, f"{file.name}: differs by {found['mean']:.1f}; look, then --update-screenshots"


def test_a_part_less_is_noticed(drawn: Callable[..., bytes], browser: Any) -> None:
    picture = PICTURES[0]
    found = differences(browser, kept(picture).read_bytes(), drawn(picture, " .part.booting{display:none}"))
    assert found["mean"] > 2 * TOLERANCE
