"""Stands for a program: hands its words, variables, directory and streams to `tests.programs.server`, and ends as the program does.

Called as ``python -I -S client.py SOCKET WORD...``, where the words are those behind ``python``. It imports next to nothing, since each
call of a program starts it.
"""

import os
import signal
import socket
import sys

STREAMS = (0, 1, 2)
NUMBER = 8
"""Bytes of a number on the socket."""


def main(address: str, words: list[str]) -> int:
    variables = [name + b"=" + value for name, value in os.environb.items()]
    parts = [os.fsencode(os.getcwd()), str(len(words)).encode(), *map(os.fsencode, words), *variables]
    request = b"\0".join(parts)
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [len(request).to_bytes(NUMBER, "big")], STREAMS)
        server.sendall(request)
        program = int.from_bytes(read(server, NUMBER), "big")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(program, number))
        code = int.from_bytes(read(server, NUMBER), "big", signed=True)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError("the server of programs has gone")
        data += more
    return data


if __name__ == "__main__":
    os._exit(main(sys.argv[1], sys.argv[2:]))
