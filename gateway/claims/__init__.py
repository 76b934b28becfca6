"""Whose signature a claim bears: keys from a file, a secret or a JWKS URL, and the check itself.

The algorithm comes from the rule's list, and each key is held with the algorithms that it is for: a token can neither
choose `none` nor have a public key taken for a secret. What a claim says is judged in `core/claim.py`, and only once
its signature holds. Nothing here fetches by itself: the way to a URL is handed in.

The package lies below `policy`, because `check` reads key files as the gateway does.
"""
