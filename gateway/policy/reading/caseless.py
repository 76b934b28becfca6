"""Names without case, marks and accents, as the most lenient reader has them."""

from unicodedata import combining, normalize


def caseless(text: str) -> str:
    """A text in one case. Also as Java's `equalsIgnoreCase` has it, to which both Turkish letters are an `i`: Unicode's
    own folding (CaseFolding.txt, C and F) makes only the long s and the Kelvin sign a plain letter.
    """
    return text.replace("\u0131", "i").replace("\u0130", "i").casefold()


def unmarked(text: str) -> str:
    """A text in one case, without `_`, `-` and blanks."""
    return caseless(text).replace("_", "").replace("-", "").replace(" ", "")


def unaccented(text: str) -> str:
    """Databases compare `purgé` as `purge`, and a letter of double width as the letter."""
    if text.isascii():
        return text
    return "".join(one for one in normalize("NFKD", text) if not combining(one))
