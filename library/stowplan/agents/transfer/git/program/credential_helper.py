"""Git's credential helper: a script that asks the agent for the password, over a socket, and tells it to Git.

It is started by its path and without site-packages, so it must import nothing of ours, and little else.
"""

import _socket
import sys

if __name__ == "__main__":
    # Not `socket`, which takes longer to import than all the rest.
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(sys.argv[1])
    connection.sendall(f"{sys.argv[2]}\n".encode() + sys.stdin.buffer.read())
    connection.shutdown(_socket.SHUT_WR)
    while part := connection.recv(4096):
        sys.stdout.buffer.write(part)
