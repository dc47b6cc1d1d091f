"""The file format as pydantic models: the only place where pydantic is used, and the source of the JSON Schema and the reference."""

from harness.scenario.language.models.header import Axes, Case, Header, SweepHeader

__all__ = ["Axes", "Case", "Header", "SweepHeader"]
