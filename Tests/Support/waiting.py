"""Tests wait for a condition and never for a time."""
import time

LIMIT_S = 120  # what takes longer hangs, also on a busy machine


def wait_until(condition, what, limit=LIMIT_S):
    """The first true value of the condition; `what` is what does not happen otherwise, or a
    function that says it."""
    end = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {limit} s: {what() if callable(what) else what}")
        time.sleep(0.01)
    return value


def pass_time(seconds, why):
    """Only where the time itself is what the test is about: `why` is the reason."""
    assert why
    time.sleep(seconds)
