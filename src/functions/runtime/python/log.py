"""Lines of the log, as the agent reads them: what code prints and logs, with its request."""
import contextvars
import io
import json
import logging
import os
import threading

LOG_TEXT_MAX = 8000
LEVELS = {'DEBUG': 'debug', 'INFO': 'info', 'WARNING': 'warn'}

# The request that the code runs for.
current = contextvars.ContextVar('request', default=None)
writing = threading.Lock()


def say(level, text):
    run = current.get()
    line = {'ergon': 1, 'request': run and run.id, 'level': level, 'text': text[:LOG_TEXT_MAX]}
    with writing:
        os.write(1, f'{compact(line)}\n'.encode(errors='replace'))


def compact(value):
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


class Lines(io.TextIOBase):
    """What the code prints, as lines of the log with their request."""

    def __init__(self, level):
        self.level, self.begun = level, {}

    def writable(self):
        return True

    def write(self, text):
        run = current.get()
        *lines, rest = (self.begun.pop(run, '') + text).split('\n')
        for line in lines:
            say(self.level, line)
        if len(rest) >= LOG_TEXT_MAX:
            say(self.level, rest)
        elif rest:
            self.begun[run] = rest
        return len(text)

    def end(self):
        rest = self.begun.pop(current.get(), '')
        if rest:
            say(self.level, rest)


class Records(logging.Handler):
    def emit(self, record):
        say(LEVELS.get(record.levelname, 'error'), self.format(record))


def end(code, why=None):
    """Ends the process, with the threads that run."""
    if why is not None:
        say('error', why)
    os._exit(code & 255)
