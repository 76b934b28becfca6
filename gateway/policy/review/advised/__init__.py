"""What `check` warns of, a kind of slip in each module: allowed, most likely not meant, no reason to refuse a policy.

Each asks the whole rule set, and warns once for an upstream where its rules have a slip in common.
"""
