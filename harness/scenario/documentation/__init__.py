"""The documentation of the file format, made from its models."""
