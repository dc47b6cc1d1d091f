"""The shortest story that still differs: steps are left out as long as it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.clusters.stories.story import Story

__all__ = ["shrunk"]


def shrunk(story: Story, differs: Callable[[Story], bool]) -> Story:
    """Leaves out every step but the first that is not needed."""
    steps = story.steps
    for index in reversed(range(1, len(steps))):
        fewer = replace(story, steps=(*steps[:index], *steps[index + 1 :]))
        if differs(fewer):
            steps = fewer.steps
    return replace(story, steps=steps)
