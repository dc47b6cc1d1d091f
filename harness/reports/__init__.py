"""Reports of finished runs: for a terminal, as JSON, as JUnit XML, as one HTML page. Each is a function of the same values."""

from harness.reports.summary import Summary

__all__ = ["Summary"]
