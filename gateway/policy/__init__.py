"""Policy files: YAML in, a frozen `RuleSet` out, and the pure answers that the data path asks of it.

Owns the grammar of policy files, of `match` patterns, of conditions and of templates; which rule takes a request;
which resource a write belongs to; which intent it names and what of it is compared with the first one of that name;
how an upstream is asked what became of it; and every finding about a file, with its line and column.

Must never decide about epochs, tokens or leases, touch the store, let a model of `schema.py` out, show the value of a
credential, or choose between two rules by the order of their files. `load.py` reads policies, `secret.py` the files
that they name, `reload.py` looks at the files' stamps; nothing else does I/O, and `match.py`, `template.py` and
`fingerprint.py` with all that they import are pure.

Carries its part of G6: a write that no rule matches, or that can be read in two ways, is not forwarded. And of G4: two
requests of one key are one action only if they say the same, as far as the rule compares them.

The way of a file: `load` → `source` (YAML with positions) → `defaults` → `schema` (shape) → `compile` → `review.lint`
(what only all files together can show) → `ruleset`. The way of a request: `reading` → `match`, which
asks `lenient` what other servers make of its path → `part` and `template`.
"""
