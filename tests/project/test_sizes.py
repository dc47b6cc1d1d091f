"""No module is longer than one can read in a sitting: split it by noun."""

from tests.project.tree import ROOT, modules

MODULE = 350


def test_modules_are_short() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in modules()
        if (lines := path.read_text(encoding="utf-8").count("\n")) > MODULE
    }
    assert long == {}
