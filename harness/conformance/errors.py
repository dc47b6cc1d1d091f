"""Errors of requests without an answer."""

__all__ = ["RequestError", "Unsupported"]


class RequestError(ValueError):
    """The request itself is refused (wrong types, unknown kind); the reply is ``fatal``."""


class Unsupported(Exception):
    """The question is understood but not answered here; the reply is ``unsupported``."""
