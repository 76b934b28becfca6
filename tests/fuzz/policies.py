"""The policies that are in force: each finds the resource, or the token, in another place."""

POLICIES = {
    "reports": """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: write-report
    match: PUT,POST,PATCH,DELETE /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
""",
    "jobs": """
upstream: jobs
url: http://127.0.0.1:{port}
mount: {{path: /jobs}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: write-job
    match: PUT /jobs/{{id}}
    resource: job/{{path.id}}
    authority: header
""",
    "tasks": """
upstream: tasks
url: http://127.0.0.1:{port}
mount: {{path: /tasks}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: add-task
    match: POST /tasks
    resource: task/{{json:/id}}
""",
    "forms": """
upstream: forms
url: http://127.0.0.1:{port}
mount: {{path: /forms}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: add-form
    match: POST /forms
    resource: form/{{form.id}}
  - name: replace-form
    match: PUT /forms
    resource: form/{{query.id}}
""",
    "notes": """
upstream: notes
url: http://127.0.0.1:{port}
protocol: mcp
mount: {{path: /mcp}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
read_only:
  - match: POST /mcp
    when: {{tool: search}}
writes:
  - name: write-note
    match: POST /mcp
    when: {{tool: write}}
    resource: note/{{json:/params/arguments/note}}
""",
    "claims": """
upstream: claims
url: http://127.0.0.1:{port}
mount: {{path: /claims}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: write-claim
    match: PUT /claims/{{id}}
    resource: claim/{{path.id}}
    authority: {{signed: {{keys: {{secret: a-secret-that-only-the-issuer-has}}, algorithms: [HS256], audience: fence}}}}
""",
    "keys": """
upstream: keys
url: http://127.0.0.1:{port}
mount: {{path: /keys}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: write-key
    match: PUT /keys/{{id}}
    resource: key/{{path.id}}
    token_from: [fencing-token, bearer]
""",
}
