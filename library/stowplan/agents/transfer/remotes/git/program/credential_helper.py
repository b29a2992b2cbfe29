"""Git's credential helper: a script that fetches the password from the agent over a socket and prints it for Git.

Git starts it by its path and without site-packages, so it cannot import the agent's modules. It imports little, to
start fast.
"""

import _socket
import sys

if __name__ == "__main__":
    # Not `socket`, which takes longer to import than all other modules together.
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(sys.argv[1])
    connection.sendall(f"{sys.argv[2]}\n".encode() + sys.stdin.buffer.read())
    connection.shutdown(_socket.SHUT_WR)
    while part := connection.recv(4096):
        sys.stdout.buffer.write(part)
