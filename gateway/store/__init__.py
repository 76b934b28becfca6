"""The only place of atomic state: the records, the scripts that change them, and the store's clock.

Owns every key and its life. Decides nothing from Python: whatever depends on a record is decided by the script that
writes it. Must never build an HTTP answer, and never read a record in order to write another.

Records
-------
Every key begins with `fg:{3ff}:`, the tag of its shard: 1,024 shards, by checksum of the resource. All that belongs to
a resource is in one shard, so that one script reaches it in a cluster.

`f:RESOURCE`, a hash: the fence record. Never expires.
    v   format version            e   highest epoch, decimal text, exact to 2^64-1
    h   its holder                w   a write used the epoch: 1 (a strict one, may be given back) or 2 (for good)
    q   last sequence in it       n   how many writes were applied, over all epochs
    s   digest of the secret      x   the lease's end in ms, 0 once released        l   its term in ms
    a   the request that advanced to this epoch      p   the pause as JSON, while one lasts
    On a larger epoch all but v, n and p begin anew.
`t:RESOURCE`, a hash: tickets in flight of the highest epoch, id to JSON. `o:RESOURCE`: those of older epochs. Both
    vanish when they are empty; drain and `serial` ask for their length, which costs the same for one and for thousands.
`w:RESOURCE`, a hash: the gateways that wait, each with the microsecond at which it came and the millisecond at which it
    last asked; `GATEWAY/watch` is a lease call that waits. Expires a minute after the last one asked.
`d`, a sorted set: every ticket of the shard by its deadline, what the sweeper looks at.
`i:ID`, a string: the record of an intent, its fields packed in the order of parts/intent.lua; of a write without a key,
    under its ticket's id, once it ended unknown. Unknown and in flight it never expires; ended, its rule's time after.
    Its answer is deflated (kept.py).
`s:STATE`, a sorted set: the intents that are unknown, applied or not_applied, by the millisecond in which they came to
    it. An ended one whose time is over stays there until it is pruned. `s:paused`: the paused resources.
`p`, a sorted set: the unknown intents whose upstream is asked about them, by the millisecond of the next question.
`a`, a stream: the shard's audit trail. `n`, a number: how many events it has had.

`fg:pepper` is the key from which secrets of repeatable grants are made. `fg:sweeper` says who sweeps this second.
A script publishes a resource on `fg:wake:GATEWAY` when that gateway should look again.

Scripts
-------
admit   G1, G3, G4: compares, records and admits a write with its intent, or finds the intent applied
settle  G5: ends a ticket, once; evidence that comes late corrects the record
sweep   G5: ends tickets of dead gateways as unknown      ask       whose turn it is to ask about an unknown intent
resolve G5: an unknown intent is known                    pause, resume: an operator stops a resource
grant   G2: a lease under a new epoch                     register, advance: an epoch before any write
renew, release: only by the live token                    leave     gives up a place among those that wait
spend, hold: what a principal's quota still allows        prune     what is kept for looking back has bounds
peek, look, recall, glance: show, and move nothing

Each knows its own request when it comes twice: by the ticket's id, the digest of the secret, or the request's id.
"""
