"""Turns: how many queues are emptied at once, and whose."""

import pytest

from gateway.core.write import ResourceKey
from gateway.flow.turns import Turns


def of(upstream: str, count: int) -> list[ResourceKey]:
    return [ResourceKey(f"{upstream}/{number}") for number in range(count)]


def whose(resource: ResourceKey) -> str:
    return resource.partition("/")[0]


def begun(turns: Turns) -> list[ResourceKey]:
    """All that may begin now."""
    found = []
    while (resource := turns.begin()) is not None:
        found.append(resource)
    return found


def test_those_that_were_found_first_begin_first() -> None:
    """In the order of the store, which is that of their times."""
    turns = Turns(whose)
    turns.offer(of("u", 5))

    assert begun(turns) == of("u", 5)


def test_a_queue_is_here_once() -> None:
    """While it is emptied, and while it waits; when it has ended it may come again."""
    turns = Turns(whose)
    assert turns.offer(of("u", 40))
    assert not turns.offer(of("u", 40))
    first = begun(turns)

    assert not turns.offer(of("u", 40))
    turns.end(first[0])
    assert turns.offer([first[0]])


@pytest.mark.parametrize("first", [False, True], ids=["found again", "approved"])
def test_a_queue_is_here_once_although_its_upstream_is_another_one_now(first: bool) -> None:
    """The policies have changed while it waited, and name it otherwise."""
    name = "old"
    turns = Turns(lambda _: name)
    (resource,) = of("u", 1)
    turns.offer([resource])
    name = "new"
    turns.put_first([resource]) if first else turns.offer([resource])

    assert begun(turns) == [resource]
    turns.end(resource)
    assert begun(turns) == []


def test_a_slow_upstream_leaves_room_for_the_others() -> None:
    """It has its own places and no more, however many of its queues wait."""
    turns = Turns(whose)
    turns.offer(of("slow", 1_000))
    assert len(begun(turns)) == 32

    turns.offer(of("other", 3))
    assert begun(turns) == of("other", 3)

    turns.end(ResourceKey("slow/0"))
    assert begun(turns) == [ResourceKey("slow/32")]


def test_upstreams_begin_by_turns() -> None:
    """Where there is room for one queue, the next one's is for another upstream."""
    turns = Turns(whose)
    turns.offer(of("one", 3) + of("other", 3))

    assert [whose(resource) for resource in begun(turns)] == 3 * ["one", "other"]


def test_one_process_empties_so_many_queues_and_no_more() -> None:
    """Of however many upstreams."""
    turns = Turns(whose)
    for upstream in "abcdef":
        turns.offer(of(upstream, 40))

    assert len(begun(turns)) == 128
    assert not turns.has_room
    turns.end(ResourceKey("a/0"))
    assert turns.begin() is not None


@pytest.mark.parametrize(
    ("offered", "has_room"),
    [([], True), (of("u", 33), True), (of("u", 33) + of("other", 1), False)],
    ids=["nothing is known", "what waits waits for its upstream", "something could begin"],
)
def test_the_store_is_looked_at_for_what_could_begin(offered: list[ResourceKey], has_room: bool) -> None:
    """What waits for a slow upstream keeps nobody from looking for others; what can begin comes first."""
    turns = Turns(whose)
    turns.offer(of("u", 32))
    begun(turns)
    turns.offer(offered)

    assert turns.has_room is has_room


def test_what_cannot_be_kept_in_mind_stays_in_the_store() -> None:
    """A million queues of one upstream do not fill the memory of who delivers; they are found again."""
    turns = Turns(whose)
    turns.offer(of("u", 5_000))
    found = 0
    while resource := turns.begin():
        turns.end(resource)
        found += 1

    assert found == 4_096
    assert turns.offer(of("u", 5_000))


def test_a_long_queue_makes_room_for_those_that_wait() -> None:
    """Of its own upstream; or of any one, where all places are taken."""
    turns = Turns(whose)
    turns.offer(of("u", 32))
    begun(turns)
    assert not turns.is_awaited(ResourceKey("u/0"))

    turns.offer([ResourceKey("u/late")])
    assert turns.is_awaited(ResourceKey("u/0"))

    for upstream in "abc":
        turns.offer(of(upstream, 32))
    begun(turns)
    turns.offer([ResourceKey("d/0")])
    assert turns.is_awaited(ResourceKey("a/0"))


def test_a_queue_that_goes_on_is_behind_those_that_wait() -> None:
    """Each sends one, and then the next one does."""
    turns = Turns(whose)
    turns.offer(of("u", 34))
    begun(turns)

    turns.end(ResourceKey("u/0"), goes_on=True)
    turns.end(ResourceKey("u/1"))
    turns.end(ResourceKey("u/2"))
    assert begun(turns) == [ResourceKey("u/32"), ResourceKey("u/33"), ResourceKey("u/0")]


def test_what_was_approved_comes_first() -> None:
    """In places of its own, however many wait and whatever has all others."""
    turns = Turns(whose)
    turns.offer(of("u", 1_000))
    begun(turns)

    turns.put_first([ResourceKey("u/900"), ResourceKey("u/new")])
    turns.offer([ResourceKey("u/900"), ResourceKey("u/new")])
    assert begun(turns) == [ResourceKey("u/900"), ResourceKey("u/new")]

    turns.put_first(of("v", 3))
    assert begun(turns) == of("v", 3)
    turns.put_first([ResourceKey(f"u/late-{number}") for number in range(10)])
    assert len(begun(turns)) == 6


def test_of_a_queue_in_which_something_was_approved_what_is_before_it_hurries_too() -> None:
    """One that is emptied already keeps its place until that is out; then it waits for its turn like the others."""
    turns = Turns(whose)
    turns.offer(of("u", 34))
    begun(turns)
    first, second = ResourceKey("u/0"), ResourceKey("u/1")

    turns.put_first([first])
    assert not turns.is_awaited(first) and turns.is_awaited(second)
    turns.end(first, goes_on=True)
    turns.end(second, goes_on=True)
    assert begun(turns)[0] == first

    turns.passed(first)
    assert turns.is_awaited(first)
    turns.end(first, goes_on=True)
    assert turns.begin() != first


def test_what_was_approved_in_a_queue_that_is_over_is_forgotten() -> None:
    """It is found again like any other."""
    turns = Turns(whose)
    turns.put_first(of("u", 1))
    begun(turns)
    turns.end(ResourceKey("u/0"))

    assert turns.offer(of("u", 1))
    assert begun(turns) == of("u", 1)
