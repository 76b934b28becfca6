"""Policy files: YAML in, a frozen `RuleSet` out, and the pure answers that the data path asks of it.

Owns the grammar of policy files, of `match` patterns, of conditions and of templates; which rule takes a request;
which resource a write belongs to; which intent it names and what of it is compared with the first one of that name;
how an upstream is asked what became of it; and every finding about a file, with its line and column.

Must never decide about epochs, tokens or leases, touch the store, let a model of `schema.py` out, show the value of a
credential, or choose between two rules by the order of their files. `load.py` reads policies, `secret.py`,
`compile/tls.py` and `compile/signed.py` the files that they name, `reload.py` looks at the files' stamps,
`resolving.py` asks for addresses, and `review` and `openapi` read what a command names; nothing else does I/O, and
`match.py`, `template.py` and `fingerprint.py` with all that they import are pure.

Carries its part of G6: a write that no rule matches, or that can be read in two ways, is not forwarded. And of G4: two
requests of one key are one action only if they say the same, as far as the rule compares them.

The way of a file: `load` → `source` (YAML with positions) → `defaults` → `shape` (by `schema`, `bounded`, `units`) →
`compile` (single texts by `name`, `url`, `header_name`, `outcomes` and `secret`), with each `finding` in a `report` →
`itself` and `review.lint` (what only all files together can show) → `ruleset`. `reload` does it anew, and tells what is
`renamed`.

What `compile` makes: `principals`, and `entry`s. Which requests one takes is told by its `pattern`s and `condition`s;
what they write by its `template` of `part`s, each with a `value_form` and an `escape`; what becomes of them by its
`key`, `fingerprint`, `only` (`listed_headers`, `listed_values`), `compensation`, and its upstream's `query`.

The way of a request: `ruleset` → `match`, which finds the upstream, asks `own_host`, `bodies` and `lenient` (what other
servers make of its path), and by `choice` which entry takes it (`paths`; then `aspect`, with `doubtful_value`) →
`template`, `key`, and `amount` for budgets. All look at it by `reading`. From a resource back to a rule: `producers`.
"""
