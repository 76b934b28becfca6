"""The policy of a run: short times, so that faults outlast them."""

from pathlib import Path

# A fault lasts up to twice as long.
TOTAL_S, LATE_S = 2.0, 2.0

_POLICY = """
upstream: work
url: http://127.0.0.1:PORT
mount: {path: /}
timeouts: {connect: 500ms, total: TOTAL, late: LATE}
capabilities:
  fencing_token: X-Epoch
  idempotency_key: X-Native
  # Beyond all that a nemesis holds back a request: a no that comes before it has arrived would be wrong.
  query: {request: "GET /done/{intent.key}", applied: {status: 200}, not_applied: {status: 404}, not_before: 15s}
defaults:
  intent: {mode: optional}
  fence: {drain_timeout: 6s, queue_timeout: 4s}
writes:
  - {name: serial, match: "PUT /serial/{id}", resource: "serial/{path.id}"}
  - name: parallel
    match: PUT /parallel/{id}
    resource: parallel/{path.id}
    fence: {concurrency: parallel}
  - {name: bare, match: "PUT /bare/{id}", resource: "bare/{path.id}", authority: header}
  - name: queued
    match: PUT /queued/{id}
    resource: queued/{path.id}
    intent: {mode: required}
    delivery: queued
  - name: native
    match: PUT /native/{id}
    resource: native/{path.id}
    intent: {mode: required, on_unknown: retry}
  - name: asked
    match: PUT /asked/{id}
    resource: asked/{path.id}
    intent: {mode: required, on_unknown: query}
"""


def write_policy(directory: Path, port: int, *, times: int = 0) -> None:
    """The policy in front of an API at that port. `times`: how often it was written before, which changes it."""
    directory.mkdir(exist_ok=True)
    text = _POLICY.replace("PORT", str(port)).replace("TOTAL", f"{TOTAL_S:g}s").replace("LATE", f"{LATE_S:g}s")
    # Every second time an upstream of other limits: its connections are not kept.
    limits = "limits: {connections: 90}\n" if times % 2 else ""
    unfinished = directory / "work.new"
    unfinished.write_text(text + limits + f"# {times}\n")
    unfinished.rename(directory / "work.yaml")
