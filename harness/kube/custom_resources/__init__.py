"""Admission of custom resources: structural schemas, defaulting, validation and CEL rules."""
