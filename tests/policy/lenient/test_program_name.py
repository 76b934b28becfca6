"""What programs are called, and what stands for a directory."""

import pytest

from gateway.policy.lenient.program_name import is_index, is_program, program_stem


@pytest.mark.parametrize(
    ("segment", "stem"),
    [
        ("cron.php", "cron"),
        ("Cron.PHP5", "Cron"),
        ("a.php.cgi", "a.php"),
        (".asmx", ""),
        ("a\n.cfm", "a\n"),
        *((f"publish.{ending}", "publish") for ending in ("phtml", "phar", "fcgi", "pl", "py", "wsgi", "asp", "aspx")),
        *((f"publish.{ending}", "publish") for ending in ("ashx", "svc", "cfc", "jsp", "jspx", "jsf", "faces")),
        *((f"publish.{ending}", "publish") for ending in ("action", "do")),
        *((segment, None) for segment in ("cron", "cron.phps", "cron.php2", "a.html", "php", "a.php/x", "")),
    ],
)
def test_a_program_is_told_by_its_ending(segment: str, stem: str | None) -> None:
    """In any case; before the ending stands whatever it is called."""
    assert program_stem(segment) == stem
    assert is_program(segment) == (stem is not None)


@pytest.mark.parametrize(
    ("segment", "told"),
    [
        *((name, True) for name in ("index.php", "INDEX.html", "default.aspx", "index.shtml", "index.jspx")),
        *((name, True) for name in ("Default.htm", "iisstart.htm", "default.cgi")),
        *((name, False) for name in ("index", "default", "my-index.php", "index.json", "iisstart.php", "")),
    ],
)
def test_a_file_stands_for_its_directory(segment: str, told: bool) -> None:
    """By the names that servers look for where nothing else is said."""
    assert is_index(segment) == told
