"""What programs are called that servers run for a path, and what stands for a directory in it."""

import re

# Struts' `.action` and `.do` and JSF's are no programs, and are cut off likewise.
PROGRAM_ENDING = (
    r"\.(?:php[3-8]?|phtml|phar|cgi|fcgi|pl|py|wsgi|asp|aspx|ashx|asmx|svc|cfm|cfc|action|do|jsf|faces|jspx?)"
)
# What a server runs for a directory, when nothing follows: an action of that name, or a program or page so called.
INDEX, DEFAULT = "index", "default"

# Windows cuts blanks and dots off a name's end.
_PROGRAM = re.compile(f"(?P<stem>.*){PROGRAM_ENDING}[ .]*", re.IGNORECASE | re.DOTALL)
_PAGE_ENDING = r"\.[sx]?html?|\.jspx?"
# Apache's `DirectoryIndex`, nginx's `index`, IIS's default documents and the welcome files of servlets.
_INDEX_FILE = re.compile(
    rf"(?:{INDEX}|{DEFAULT})(?:{PROGRAM_ENDING}|{_PAGE_ENDING})|iisstart\.html?", re.IGNORECASE | re.DOTALL
)


def program_stem(segment: str) -> str | None:
    """A program's name without its ending, which may be all of it; None of what is no program's name."""
    found = _PROGRAM.fullmatch(segment)
    return None if found is None else found["stem"]


def is_program(segment: str) -> bool:
    return _PROGRAM.fullmatch(segment) is not None


def is_index(segment: str) -> bool:
    """Whether it is a file that a server runs or shows for its directory."""
    return _INDEX_FILE.fullmatch(segment) is not None
