"""How other servers read a path than this gateway does, and which rule, closed entry or mount they find there.

Of two readings none is guessed: what is another's to some server is refused. Pure. `match.py` asks in this order:

1. Of any request, before a rule is known: `doubtful_path`, whether its mount is spelled in another way (`literal`), its
   path stands in the query (`path_in_query`), a session within a segment or dots in an escaped escape.
2. Of a read: `closed_reads`; then `doubtful_path` again, whether it is of a deeper mount that takes none.
3. Of a write: `doubtful_path`, whether it is of a deeper mount (`deeper_mounts`) or has what is read in two ways
   (`bare_plus`, `encoded_slash`, `cut_path`). With a rule found, to which `paths` tells `choice` where case, marks or
   a slash could make it another's: `doubtful_path` of that rule (`literal`, `escaped_twice`, `shortened_path`,
   `program_path`, `index_path`), and last `closed_writes`.

The others are what these are made of. A path or a segment in, what it is to some server out: `segment` without case and
marks, `decoded_path` without escapes, `cut_path` up to its query, `cut_format` without an ending, `shortened_path`
without what is dropped, `program_path` and `index_path` by what is run for it; `program_name` has the names. Of a
policy's own patterns: `patterns` finds the one that a server would, `bare_program` gives a program's other name.
"""
