"""Words and judgements: what every term means and what follows from it. No I/O, no clock, no asyncio.

Glossary
--------
epoch       generation of whoever owns a resource, an unsigned 64-bit integer (`epoch.py`)
token       what an agent presents; parsed into a proof at once, nobody past `token.py` holds one
proof       epoch, holder and how both were shown (`token.py`)
resource    the string key that is protected; made by a rule's template, never the URL (that is the target)
holder      who holds an epoch
lease       a holder's epoch with a deadline (`lease.py`)
rule        one entry of `writes` in a policy file, compiled (`rule.py`)
write       one mutating request, fully resolved: everything admission has to know (`write.py`)
ticket      the store's record of one admitted write that has not ended (`write.py`)
evidence    what the wire showed of an attempt (`outcome.py`)
outcome     what is concluded from it: applied, not_applied, unknown (`outcome.py`)
parked      taken and not sent yet: queued for delivery, or waiting for an approval (`parking.py`)
decision    what the gateway says about a request, with its status and action (`decision.py`)
"""
