"""The console's files: all that the page needs is there, and nothing on it comes from anywhere else."""

import re

from gateway.admin.console.asset import PAGE, load_assets

ASSETS = load_assets()
TEXTS = {name: asset.body.decode() for name, asset in ASSETS.items()}


def test_files_have_their_types() -> None:
    """A browser runs nothing under another one."""
    by_ending = {name.rpartition(".")[2]: asset.media for name, asset in ASSETS.items()}

    assert by_ending == {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


def test_what_is_named_is_there() -> None:
    """Every file that the page or a module names, and none is left over."""
    page = set(re.findall(r'"/console/([^"]+)"', TEXTS[PAGE]))
    imported = {name for text in TEXTS.values() for name in re.findall(r'from "\./([^"]+)"', text)}

    assert page | imported | {PAGE} == ASSETS.keys()


def test_nothing_comes_from_elsewhere() -> None:
    """No other host is named, but for the namespace of SVG, which nothing is loaded from."""
    found = {url for text in TEXTS.values() for url in re.findall(r"\b(?:https?:)?//[\w.-]+", text)}

    assert {url for url in found if "." in url} == {"http://www.w3.org"}


def test_texts_never_become_markup() -> None:
    """What agents sent is set as text: no module has another way to an element."""
    ways = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\b|Function\("
    )

    assert [name for name, text in TEXTS.items() if re.search(ways, text)] == []


def test_the_page_has_no_script_and_no_style_of_its_own() -> None:
    """Its policy would not let them count."""
    assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:", TEXTS[PAGE]) == []


def test_modules_are_small() -> None:
    """Each is about one thing."""
    assert [name for name, text in TEXTS.items() if text.count("\n") >= 300 and name.endswith(".js")] == []


def test_a_changed_file_has_another_tag() -> None:
    """And the same file the same one, in every process."""
    assert len({asset.tag for asset in ASSETS.values()}) == len(ASSETS)
    assert load_assets() == ASSETS
