"""Whether a resource's name is one: what is done to a name with a slip in it is done to nothing, and looks done."""

from gateway.admin.running import Running
from gateway.core.decision import NO_SUCH_RESOURCE, Facts, Refused
from gateway.core.write import ResourceKey


async def check_name(running: Running, resource: ResourceKey) -> Refused | None:
    """Refuse a resource that no rule makes and that was never seen."""
    if running.rules().rule_for_resource(resource, None) is not None or await running.store.look(resource) is not None:
        return None
    detail = "Nothing was done: no rule makes this resource, and it was never written. Look for a slip in its name."
    return Refused(NO_SUCH_RESOURCE, detail, Facts(resource=resource))
