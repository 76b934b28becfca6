"""A trace: steps that follow each other."""

from itertools import count

from gateway.core.trace import Trace
from gateway.core.trace_context import TraceContext

OWN = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 1)


def test_each_step_has_its_beginning() -> None:
    """By a clock that is asked once for each, the trace's own beginning first."""
    trace = Trace(None, OWN, OWN, count(100, 5).__next__)

    trace.enter("identify")
    trace.enter("admit")

    assert (trace.id, trace.began_ns) == (OWN.trace_id, 100)
    assert trace.steps == [("identify", 105), ("admit", 110)]
