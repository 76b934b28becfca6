"""What a user may not do at the store, found out before a script stops half way for want of it.

The server looks at a user's rights at each command of a script, and takes nothing back of what the script did before.
"""

import re
from functools import lru_cache
from importlib.resources import files

from gateway.store.links.link import Link

_CALLED = re.compile(r"redis\.call\(\s*'([A-Z]+)'")
# All arguments are a key and a channel of ours: what is a key among them differs from command to command.
_ASK = """\
local missing = {}
for _, name in ipairs(ARGV) do
  if not redis.acl_check_cmd(name, 'fg:probe', 'fg:probe', 'fg:probe') then
    missing[#missing + 1] = name
  end
end
return missing
"""


@lru_cache(maxsize=1)
def called() -> tuple[str, ...]:
    """Every command that a script calls."""
    folder = files("gateway.store") / "scripts"
    found = [*folder.iterdir(), *(folder / "parts").iterdir()]
    texts = (entry.read_text("utf-8") for entry in found if entry.is_file())
    return tuple(sorted({name for text in texts for name in _CALLED.findall(text)}))


async def missing_rights(link: Link) -> list[str]:
    """Those commands that the user of this connection may not run in a script. Raises StoreUnavailable."""
    reply = await link.call("EVAL", _ASK, 0, *called())
    assert isinstance(reply, list)
    return [name.decode() for name in reply if isinstance(name, bytes)]
