"""A server that dies while it is spoken to leaves no open socket behind."""

from __future__ import annotations

import gc
import socket
import ssl
import struct
import warnings
from pathlib import Path

import pytest

from harness.clusters.control_plane.pki import Authority, MissingTool
from harness.engine.ports import ADMIN


def test_a_connection_that_is_reset_before_it_is_one_of_tls(tmp_path: Path) -> None:
    try:
        context = Authority(tmp_path).context(ADMIN)
    except MissingTool as error:
        pytest.skip(str(error))
    with socket.create_server(("127.0.0.1", 0)) as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plain = socket.create_connection(server.getsockname())
        other, _ = server.accept()
        # a linger of no time: the end is a reset
        other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        other.close()
        with pytest.raises((OSError, ssl.SSLError)):
            context.wrap_socket(plain)
        gc.collect()
    plain.close()
    assert [str(each.message) for each in caught] == []
