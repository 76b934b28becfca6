"""All calls of the admin listener. Routes, the index and the OpenAPI document are made of this table, in its order."""

from gateway.admin.routes import (
    audit,
    budgets,
    intents,
    listener,
    notifications,
    pauses,
    policies,
    quarantine,
    resources,
    store,
)

CALLS = (
    *listener.CALLS,
    *resources.CALLS,
    *intents.CALLS,
    *audit.CALLS,
    *pauses.CALLS,
    *quarantine.CALLS,
    *budgets.CALLS,
    *notifications.CALLS,
    *policies.CALLS,
    *store.CALLS,
)
