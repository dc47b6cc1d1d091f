"""The conformance protocol: JSON questions in, JSON answers out, the same as the real Go code gives.

One module per op in `harness.conformance.ops`, each with ``answer(request, context)``; it is imported when it is first asked for.
"""

from harness.conformance.context import AnswerContext, DataFile
from harness.conformance.errors import RequestError, Unsupported
from harness.conformance.loop import reply, serve

__all__ = ["AnswerContext", "DataFile", "RequestError", "Unsupported", "reply", "serve"]
