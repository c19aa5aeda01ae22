"""Signals become a flag for the time of a block, and only there."""

import signal
import threading

import pytest

from sightline.training.signals import stop_on_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_sets_the_flag_and_the_handler_is_restored(number):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("Python handles signals in the main thread only")
    before = signal.getsignal(number)
    with stop_on_signals() as stop:
        assert not stop()
        # The handler is called, not the signal sent: it would end a process that runs tests elsewhere.
        signal.getsignal(number)(number, None)
        assert stop()
    assert signal.getsignal(number) is before


def test_outside_the_main_thread_nothing_is_installed():
    before, seen = signal.getsignal(signal.SIGINT), []

    def run():
        with stop_on_signals() as stop:
            seen.append((stop(), signal.getsignal(signal.SIGINT) is before))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [(False, True)]
