"""The operators' console: pages that run in an operator's browser and call the admin API, as any client may.

Owns the files of `static/` and how they are served. They hold nothing that is worth a token: what is shown comes from
calls that ask for one. It must never have a page that is made here of what agents sent: texts of theirs reach a browser
as JSON only, and are set as text there.
"""
