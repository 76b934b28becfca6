"""What has to be on the machine beside the gateway."""

import re
import shutil
import subprocess
from pathlib import Path

_LUA_MODULE = "ngx_http_lua_module.so"
_LUA_CORE = Path("/usr/share/lua/5.1/resty/core.lua")


def missing_packages() -> list[str]:
    """Debian's packages that the benchmark lacks."""
    return [
        *(["nginx"] if shutil.which("nginx") is None else []),
        *(["libnginx-mod-http-lua"] if not (nginx_modules() / _LUA_MODULE).exists() else []),
        *(["lua-resty-core"] if not _LUA_CORE.exists() else []),
        *(package for package in ("wrk", "redis-server") if shutil.which(package) is None),
    ]


def nginx_modules() -> Path:
    """Where nginx has its modules; Debian's place where it does not say."""
    if shutil.which("nginx") is None:
        return Path("/usr/lib/nginx/modules")
    said = subprocess.run(["nginx", "-V"], check=True, capture_output=True, text=True).stderr
    return read_modules_path(said)


def read_modules_path(said: str) -> Path:
    """`--modules-path` among the arguments with which nginx was built."""
    found = re.search(r"--modules-path=(\S+)", said)
    return Path(found[1] if found else "/usr/lib/nginx/modules")
