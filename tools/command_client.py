"""Stands in for a command that `command_server.py` runs: `python -I -S command_client.py SERVER COMMAND ARGUMENT ...`.

It hands its arguments, directory, environment and standard streams to the server and ends as the command ends, by an
exit status or by a signal. A test starts hundreds of them, so it imports next to nothing, and nothing of ours.
"""

import json
import os
import socket
import sys


def main(server: str, arguments: list[str]) -> int:
    """The exit status of the command, -N if signal N ended it; 1, after a message, if the server ended first."""
    request = json.dumps({"arguments": arguments, "directory": os.getcwd(), "environment": dict(os.environ)})
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(server)
        socket.send_fds(connection, [request.encode()], [0, 1, 2])
        answer = connection.recv(16)
    if answer:
        return int(answer)
    print(f"{arguments[0]}: the command server ended before the command did", file=sys.stderr)
    return 1


if __name__ == "__main__":
    status = main(sys.argv[1], sys.argv[2:])
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)
