"""Scenario files: the format, the loader that knows every line, the runner and the expectations."""
