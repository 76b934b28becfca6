"""A small world, explored to its end: every order in which two holders, two gateways, a store, an upstream, an operator
and time may act on one resource and one intent, and after each step whether G1 to G5 still hold.

    python -m tests.model.explore [--world NAME] [--depth N]

The scripts are the product's own, on a real server, and so is the code with which a gateway asks them and reads their
answers (gateway.store.fence). What a gateway does between two questions is a few lines of writes.py, each as
`gateway.flow` and `gateway.upstream` play it: a deadline is anchored before the first call leaves, and looked at before
the first bytes leave and the last; what got no answer is unknown; what has ended is settled until the store has heard
it. That the product does so is for the tests of those packages to show. One line of the scripts is another one here:
their clock stands still (shelf.py), and the past moves back instead (era.py).

In a world there are

- grants, takeovers, renewals, releases; or epochs that were granted elsewhere, and are registered;
- writes with and without the key, through either gateway; repeats by the same holder, and by its successor;
- calls that reach the store late, twice, or when nobody waits for them any more, and settle calls likewise;
- gateways that stand still for as long as they like, and go on; gateways that die with all that they had in hand;
- an upstream that executes, refuses or does nothing, at any time once it has the whole request;
- a replica that stops following, and takes over: the store loses what it acknowledged since, all gateways are told
  before anything else leaves, and in the end an operator accepts that;
- a store that is emptied under living connections, of which nobody is told before a gateway misses its mark there;
- an operator who says of an unknown intent what is true.

Worlds are alike where they differ by which of two unused gateways is used, by the order in which writes came, by
instants that lie behind what they were for, or by the names of past epochs.

Left out are

- other resources, and all that a rule may ask besides: revisions, sequences, strict order, writes in parallel, queries,
  budgets, pauses, what is parked or queued, compensations, sessions. Most of it is drawn by the stories of tests/model;
- who of several waiting gateways comes first, and the lists and the trail that people read;
- records whose time is over; clocks of gateways and store that differ, or jump;
- a loss that nobody notices, and of what was accepted as lost, that it may be done again: neither is promised;
- an operator who is wrong.
"""
