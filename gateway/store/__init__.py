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
    u   the unknown writes that hold back all others
    g   epochs whose lease was given back while something was queued, which is delivered all the same
    y   when x was put right, because the clock was set back: once for each lease
    k   of a lease that was granted to a call with a key: which call, and what its secret is made of
    c   the principal for whose quota the lease counts
    r   the largest epoch that an operator has forgotten (reset)
    b   the era that began with the last reset, by the microsecond: epochs are compared within one (parts/epoch.lua)
    m   the largest epoch of that era, where there was a reset: by it one through a former version is noticed
    On a larger epoch all but v, n, p, u, g, r and b begin anew.
`t:RESOURCE`, a hash: tickets in flight of the highest epoch, packed. `o:RESOURCE`: those of older epochs. Both
    vanish when they are empty; drain and `serial` ask for their length, which costs the same for one and for thousands.
`w:RESOURCE`, a hash: the gateways that wait, each with the microsecond at which it came and the millisecond at which it
    last asked; `GATEWAY/watch` is a lease call that waits, or a session. Expires a minute after the last one asked.
`g:RESOURCE`, a sorted set, with four characters before the resource that stand for a principal: its calls with a key
    that were granted a lease, by the millisecond until which they are not granted another, a thousand at most. Expires
    a day after the last one.
`d`, a sorted set: every ticket of the shard by its deadline, what the sweeper looks at.
`i:ID`, a string: the record of an intent, its fields packed as in parts/intent.lua; of a write without a key,
    under its ticket's id, once it ended unknown. Unknown and in flight it never expires; ended, its rule's time after.
    Its answer is deflated (kept.py).
`s:STATE`, a sorted set: the intents that are unknown, applied or not_applied, by the millisecond in which they came to
    it. An ended one whose time is over stays there until it is pruned. `s:paused`: the paused resources.
`c:ID`, a hash: what takes an applied intent back, as its rule's compensation says: the `request`, or `none` and why;
    `number` of the event after which it was kept, `at` its instant. It lives as long as the record. What takes it back
    is an intent of its own, whose record names it (`compensates`).
`p`, a sorted set: the unknown intents whose upstream is asked about them, by the millisecond of the next question.
`r:ID`, a hash: a request that was not forwarded and is kept, with what is told of it; expires by itself, unless its
    intent (of the same id) is parked. What proved who sent it is not in there. `k:PURPOSE`, a sorted set: those that
    are kept for a purpose (`quarantine`, `parked`), by the microsecond in which they came. `fg:kept`, `fg:parked`:
    about how many bytes of them there are, and `fg:parked-by`, a hash, of each principal's; counted anew every minute.
`q:RESOURCE`, a list: the intents that are to be delivered, in the order of arrival and so of their epochs; the head
    stays there while it is in flight. `q`, a sorted set: the resources with a queue, by the millisecond in which the
    head is due. Whoever takes it moves that on: a deliverer that dies gives it back by its silence. `fg:due`: shards in
    which something is due, a hint; whoever sweeps looks into every shard each ten seconds, and finds what has none.
    `fg:approved`: resources of what was approved within the last seconds, which is delivered first.
`e`, a sorted set: the intents that wait for an approval, by the millisecond in which that ends.
`m:ID`, a hash: a notification that is to be sent (parts/notification.lua). `l:waiting`, a sorted set: those that wait,
    each with its upstream, by the millisecond of the next attempt; `l:dead`: those that are not sent any more, by that
    of their death (parts/letter.lua).
`a`, a stream: the shard's audit trail, each event one packed field `e`. `n`, a number: how many events it has had.
    `z`, a sorted set: its seals, `NUMBER ID DIGEST` by the number of the event up to which each digests the trail
    (audit_seals.py); the trail is cut behind one. `refused`, a hash: which refusals the trail has been told of within a
    minute; expires with it.

`lost`, a string, there only after a loss of acknowledged work: the epoch below which leases have ended, and whether an
    operator has accepted it (parts/loss.lua); `lasts` beside it: for how many milliseconds what is forgotten may be in
    flight, from when on, and the floor of the loss of which that was told. `store`, a hash in one shard of each
    server: its `incarnation`, and when, why and by whom its last loss was found and accepted. `marks` beside it: the
    last mark of each process, and when; and `lasting`, a sorted set: for how many milliseconds writes of any rules
    last, by the one until which one may be in flight (lasting.py).

`fg:{$UPSTREAM/RULE}:` begins the keys of a rule's budgets, which belong to no resource (parts/budget.lua): `s`, which
    are used; `b:BUDGET` and `v:BUDGET`, what counts in one, and its amounts; `r:ID`, what has been reserved for an
    intent; `p`, of which it is not yet known what became. All of it expires with the windows.

`fg:{@PRINCIPAL}:` begins the keys of a principal's quotas, sorted sets: its `writes`, `leases` and new `resources`, by
    the millisecond at which each stops to count.

`fg:{000}:pauses`, a hash: the pauses that are wider than a resource, id to JSON. Scripts of resources do not see it:
    every gateway reads it twice a second, and whenever `fg:pauses` says that it has changed. `unpaused` beside it, a
    sorted set: the ids of those that were ended, by the millisecond in which they were, for 30 days. A gateway writes
    back what it knows that is in neither: the store has lost it.
`origin`, a short text: what the shard began with, by which scripts tell that it was emptied (loss/origins.py).
`safe`, an empty string: what is written before each wait for a disk or for replicas (durable.py). `probe`, for a
second: what was written to see whether a server takes writes.
`fg:pepper` is the key from which secrets of repeatable grants are made. `fg:sweeper` says who sweeps this second,
and since when.
A script publishes a resource on `fg:wake:GATEWAY` when that gateway should look again.

Servers
-------
One, the one that sentinels name as the primary, or the primaries of a cluster, as the URL says (`links`). Keys without
a tag are on any of them, and no command names keys of two shards.
Whatever depends on the keys of several servers is a hint, or counted anew.

Scripts
-------
admit   G1, G3, G4: compares, records and admits a write with its intent, or finds the intent applied
settle  G5: ends a ticket, once; evidence that comes late corrects the record
sweep   G5: ends tickets of dead gateways as unknown      ask       whose turn it is to ask about an unknown intent
compensate G3, G4: a ticket for what takes an applied intent back, once, while nothing else is in flight
take    one deliverer has the head of a queue, for a while
deliver G1, G3, G4: a ticket for what was queued: only its epoch counts
decide  an approval is used once, for one request         expire    what nobody approved in time is never sent
retry   what failed is queued again
resolve G5: an unknown intent is known                    pause, resume: an operator stops a resource
grant   G2: a lease under a new epoch                     register, advance: an epoch before any write
extend  G1, G3: a session's ticket lives on while a write of its token would be admitted
begin_pause, end_pause: an operator stops an upstream, a rule, a tenant, a holder, or everything
restore_pauses: what an operator stopped stays so in a store that forgot it
mark    tells a store that has lost acknowledged work     regress, regress_shard: it is told, and all scripts obey
accept, accept_shard: an operator ends a loss; what waited is unknown
reset   an operator forgets an epoch                      collect   records of leases that ended long ago go
renew, release: only by the live token                    leave     gives up a place among those that wait
seal    the trail's digests, in order                      refuse    tells of what was refused before admission
spend, hold: what a principal's quota still allows        prune     what is kept for looking back has bounds
reserve, give_back, confirm: what a rule's budgets still allow
quarantine: what came too late is kept within bounds     drop, recount: it goes, and is counted anew
peek, look, recall, glance, fate, usage: show, and move nothing

Each knows its own request when it comes twice: by the ticket's id, the digest of the secret, or the request's id. An
intent's record keeps the last of those that made an attempt of it (`calls`): behind the attempt's end they do nothing.
What acts on somebody's right or word does nothing once its call has failed (asking.py).
"""
