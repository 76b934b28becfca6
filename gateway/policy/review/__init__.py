"""What people are told about their policies, before and after: findings, trails, cases, recorded traffic.

Asked by `check`, `test`, `explain` and `schema`, and by the operators' calls; the data path needs none of it.
"""
