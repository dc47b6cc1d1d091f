"""Scenario files, in four rooms: `reading`, `language`, `running`, and `documentation` of the language."""
