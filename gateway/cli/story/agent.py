"""An agent as a process of its own, with nothing but the standard library: what any agent has to do.

It reads commands as JSON lines from its standard input and answers each with one JSON line, so that the story can stop
it between two of them as a scheduler, a garbage collector or a laptop's lid would.
"""

import http.client
import json
import sys


class Agent:
    """Keeps the token of its lease and shows it with every write."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self._address = address
        self._token: str | None = None

    def call(self, method: str, path: str, body: object, key: str | None) -> dict[str, object]:
        """One request; what went out and what came back, for the story to print."""
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        if self._token is not None and not path.startswith("/-/fence/leases"):
            headers["Fencing-Token"] = self._token
            # The token is proof enough; what comes too late is kept under this name.
            headers["Fencing-Holder"] = self.name
        connection = http.client.HTTPConnection(self._address, timeout=60)
        try:
            connection.request(method, path, json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        said = json.loads(text) if text else None
        if path == "/-/fence/leases" and isinstance(said, dict) and "token" in said:
            self._token = said["token"]
        shown = {name: value for name, value in answer.getheaders() if name.startswith(("Fencing-", "Idempotent-"))}
        return {"request": headers, "status": answer.status, "headers": shown, "body": said}


def main() -> None:
    agent = Agent(sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        command = json.loads(line)
        if command["path"] == "/-/fence/leases":
            command["body"]["holder"] = agent.name
        told = agent.call(command["method"], command["path"], command["body"], command["key"])
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
