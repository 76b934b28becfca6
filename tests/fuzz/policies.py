"""The policies that are in force: each finds the resource, or the token, in another place."""

_UPSTREAM = """
upstream: {name}
url: http://{host}:{{port}}
mount: {{{{path: /{mount}}}}}
timeouts: {{{{connect: 2s, total: 10s}}}}
capabilities: {{{{fencing_token: X-Fencing-Token}}}}
"""


def _policy(name: str, of_its_own: str, *, host: str = "127.0.0.1", mount: str = "") -> str:
    return _UPSTREAM.format(name=name, host=host, mount=mount or name) + of_its_own


POLICIES = {
    "reports": _policy(
        "reports",
        """\
writes:
  - name: write-report
    match: PUT,POST,PATCH,DELETE /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
""",
        host="localhost",
    ),
    "jobs": _policy(
        "jobs",
        """\
writes:
  - name: write-job
    match: PUT /jobs/{{id}}
    resource: job/{{path.id}}
    authority: header
""",
    ),
    "tasks": _policy(
        "tasks",
        """\
writes:
  - name: add-task
    match: POST /tasks
    resource: task/{{json:/id}}
""",
        mount="tasks, coded_bodies: undone",
    ),
    "forms": _policy(
        "forms",
        """\
writes:
  - name: add-form
    match: POST /forms
    resource: form/{{form.id}}
  - name: replace-form
    match: PUT /forms
    resource: form/{{query.id}}
""",
    ),
    "notes": _policy(
        "notes",
        """\
protocol: mcp
read_only:
  - match: POST /mcp
    when: {{tool: search}}
writes:
  - name: write-note
    match: POST /mcp
    when: {{tool: write}}
    resource: note/{{json:/params/arguments/note}}
""",
        mount="mcp",
    ),
    "boards": _policy(
        "boards",
        """\
read_only:
  - match: POST /boards/find
    only: {{json: [/text, /rows/id], header: [X-N, X-A, Cookie]}}
  - match: POST /boards
    when: {{json: {{/dry: true}}}}
    only: {{json: [/dry, /id], header: [X-N, X-A, Cookie]}}
writes:
  - name: write-board
    match: PUT /boards/{{id}}
    resource: board/{{path.id}}
    only: {{query: [page], json: [/text, /rows/id, {{/kind: [soft, 1]}}], header: [X-N, X-A, Cookie]}}
  - name: add-board
    match: POST /boards
    resource: board/{{json:/id}}
    only: {{json: [/dry, /id, /text], header: [X-N, X-A, Cookie]}}
""",
        mount="boards, bodies: [json]",
    ),
    "cards": _policy(
        "cards",
        """\
read_only:
  - match: POST /cards/preview
    only: {{query: [page], form: [title, "tags[]"]}}
  - match: POST /cards
    when: {{form: {{mode: dry}}}}
    only: {{form: [mode, id]}}
writes:
  - name: write-card
    match: POST /cards/{{id}}
    resource: card/{{path.id}}
    only: {{query: [page], form: [title, "tags[]", {{tone: [soft]}}]}}
  - name: change-card
    match: PATCH /cards/{{id}}
    resource: card/{{path.id}}
  - name: add-card
    match: POST /cards
    resource: card/{{form.id}}
    only: {{form: [mode, id, title]}}
""",
        mount="cards, bodies: [form, multipart]",
    ),
    "claims": _policy(
        "claims",
        """\
writes:
  - name: write-claim
    match: PUT /claims/{{id}}
    resource: claim/{{path.id}}
    authority: {{signed: {{keys: {{secret: a-secret-that-only-the-issuer-has}}, algorithms: [HS256], audience: fence}}}}
""",
    ),
    "keys": _policy(
        "keys",
        """\
writes:
  - name: write-key
    match: PUT /keys/{{id}}
    resource: key/{{path.id}}
    token_from: [fencing-token, bearer]
""",
    ),
}
