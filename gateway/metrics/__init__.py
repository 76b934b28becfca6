"""The metrics, all of them: their names, labels and buckets.

No label ever holds a resource, a key, a holder or a path: they come from callers, and there is no end of them. What is
left (upstreams, rules, decisions, scripts) comes from the policies and from the code, so that children can be kept.

Workers write to files in one directory (prometheus_client's multiprocess mode: it is on where PROMETHEUS_MULTIPROC_DIR
is set before this module is loaded), from which the parent answers for all of them, dead ones included.
"""
