"""What a copy leaves out, and why. A status counts files by these reasons."""

from typing import Literal

Reason = Literal["device", "emptyFolder", "excluded", "link", "pointer", "reserved", "submodule"]
"""Reason for which a file, link or folder of a source is not copied.

`device` is a device, socket or pipe. `emptyFolder` is a folder that the destination cannot hold. `excluded` is what the
patterns of the spec do not select. `link` is a symbolic link. `pointer` is a file that Git LFS would replace by its
content. `reserved` has a name that the destination refuses, such as `.git`. `submodule` is a repository in a repository.
"""

Links = Literal["follow", "skip", "fail"]
"""What happens to symbolic links of a source in a claim."""

LINKS = "What happens to symbolic links: `follow` copies what they lead to, and fails for one that leads out of the directory or nowhere; `skip` leaves all links out; `fail` refuses them. Default `follow`."
"""Description of such a field in a spec."""

MOST_EXAMPLES = 10
"""Maximum number of names that a status has for each reason."""

LONGEST_EXAMPLE = 256
"""Maximum length of such a name in characters."""
