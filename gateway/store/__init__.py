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
    a   the request that advanced to this epoch
    On a larger epoch all but v and n begin anew.
`t:RESOURCE`, a hash: tickets in flight of the highest epoch, id to JSON. `o:RESOURCE`: those of older epochs. Both
    vanish when they are empty; drain and `serial` ask for their length, which costs the same for one and for thousands.
`w:RESOURCE`, a hash: the gateways that wait, each with the microsecond at which it came and the millisecond at which it
    last asked; `GATEWAY/watch` is a lease call that waits. Expires a minute after the last one asked.
`d`, a sorted set: every ticket of the shard by its deadline, what the sweeper looks at.
`i:ID`, a hash: a write that ended unknown; resolved, it is kept for a day. `s:unknown`, a sorted set: the unresolved.

`fg:{@NAME}:writes`, `:leases` and `:resources`, sorted sets: what a principal has used of its quota, each entry by the
    millisecond at which it stops to count. They vanish with their last entry.

`fg:pepper` is the key from which secrets of repeatable grants are made. `fg:sweeper` says who sweeps this second.
A script publishes a resource on `fg:wake:GATEWAY` when that gateway should look again.

Scripts
-------
admit   G1, G3: compares, records and admits a write      settle    G5: ends a ticket, once
grant   G2: a lease under a new epoch                     sweep     G5: ends tickets of dead gateways as unknown
renew, release: only by the live token                    register, advance: an epoch before any write
leave   gives up a place among those that wait            look      shows a record
spend   takes from a principal's quota, or refuses        hold      a lease counts until it ends

Each knows its own request when it comes twice: by the ticket's id, the digest of the secret, or the request's id.
"""
