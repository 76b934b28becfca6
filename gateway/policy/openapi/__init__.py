"""OpenAPI documents: what they say of writing operations, a policy proposed from them, and what a policy leaves open.

A document is somebody else's text: nothing in it is fetched, run or believed. What it does not say stays a question
for whoever owns the policy, and an operation that cannot be told exactly gets no rule: it stays closed.
"""
