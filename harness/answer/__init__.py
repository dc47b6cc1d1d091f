"""The conformance protocol: JSON questions in, JSON answers out, the same as the real Go code gives.

One module per op in `harness.answer.ops`, each with ``answer(request, context)``; it is imported when it is first asked for.
"""

from harness.answer.context import AnswerContext, DataFile
from harness.answer.errors import RequestError, Unsupported
from harness.answer.loop import reply, serve

__all__ = ["AnswerContext", "DataFile", "RequestError", "Unsupported", "reply", "serve"]
