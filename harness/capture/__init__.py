"""Capture: a dump or a live cluster as a scenario that anybody may read, with the fields that decide where pods go, and no others."""
