"""What the admin API's documents look like, as JSON Schema (2020-12), for its OpenAPI document. Data, and no more.

The members themselves are written by the handlers; the tests hold both together, by what the handlers answer. Answers
may get further members, so that no shape of an answer is closed; those of what is sent are.
"""
