"""The CPU of requests: what the process has used, in equal parts of those that run."""
import threading
import time

counting = threading.Lock()
running = set()
counted_ns = 0


class Run:
    """One request."""

    def __init__(self, id, tariff):
        self.id, self.nj_per_cpu_s, self.cpu_us = id, float(tariff or 0), 0.0

    def energy(self):
        """Joules that this request has used so far."""
        share()
        return self.cpu_us * self.nj_per_cpu_s / 1e15


def share():
    """Gives the CPU since the last call to the requests that run, in equal parts."""
    global counted_ns
    with counting:
        now_ns = time.process_time_ns()
        for run in running:
            run.cpu_us += (now_ns - counted_ns) / 1000 / len(running)
        counted_ns = now_ns
