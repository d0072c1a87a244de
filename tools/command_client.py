"""Stands in for a command that `command_server.py` runs: `python -I -S command_client.py SERVER COMMAND ARGUMENT ...`.

It hands its arguments, directory, environment and standard streams to the server and ends as the command ends, by an
exit status or by a signal. Tests start a thousand of them, so it imports next to nothing: `json`, and `socket` around
`_socket`, would take half of its time.
"""

import marshal
import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_SEQPACKET, SOL_SOCKET, socket
from array import array


def main(server: str, arguments: list[str]) -> int:
    """The exit status of the command, -N if signal N ended it; 1, after a message, if the server ended first."""
    request = marshal.dumps({"arguments": arguments, "directory": os.getcwd(), "environment": dict(os.environ)})
    connection = socket(AF_UNIX, SOCK_SEQPACKET)
    connection.connect(server)
    connection.sendmsg([request], [(SOL_SOCKET, SCM_RIGHTS, array("i", [0, 1, 2]))])
    if answer := connection.recv(16):
        return int(answer)
    print(f"{arguments[0]}: the command server ended before the command did", file=sys.stderr)
    return 1


if __name__ == "__main__":
    status = main(sys.argv[1], sys.argv[2:])
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)
