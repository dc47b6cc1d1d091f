"""Op ``launch``: as ``labels``, while NodeOverlays count."""

from harness.conformance.ops.labels import answer

__all__ = ["answer"]
