"""Texts of others as the console writes them."""

import pytest

from tests.admin.conftest import Admin
from tests.admin.console.browser import browsing

pytestmark = pytest.mark.slow

VISIBLE = """async (texts) => {
  const { visible } = await import("/console/dom.js");
  return texts.map(visible);
}"""
SHOWN = {
    "report/7 é 日本 مرحبا \t\n ❤\ufe0f": "report/7 é 日本 مرحبا \t\n ❤\ufe0f",
    "\x1b[2J\r\x7f\x9b\x00": r"\u001b[2J\u000d\u007f\u009b\u0000",
    "\u202ea\u2066b\u200b\ufeff\u00ad\u061c\u2028": r"\u202ea\u2066b\u200b\ufeff\u00ad\u061c\u2028",
    "pay\U000e0031\U000e0030": r"pay\u{e0031}\u{e0030}",
    "a\u3164b\u034fc\U000e0100": r"a\u3164b\u034fc\u{e0100}",
}


async def test_what_is_not_seen_is_spelled_out(admin: Admin) -> None:
    """Whatever its plane: a name looks like no other one, and nobody approves what stands there unseen."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/")
        assert await page.evaluate(VISIBLE, list(SHOWN)) == list(SHOWN.values())
