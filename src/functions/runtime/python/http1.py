"""Requests of the ingress and their answers, in HTTP/1.1."""
import re
from urllib.parse import urlsplit

from python.cpu import share

HOP_BY_HOP = {'connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer'}
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
BODILESS = {204, 205, 304}


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.body = method, path, body
        self.given = dict(headers)
        self.event = self.given.get('x-ergon-event')
        # Callers cannot send it: the ingress drops x-ergon-…, and the line below what they call like ours.
        self.headers = [(name, value) for name, value in headers if name not in HOP_BY_HOP
                        and not name.startswith('x-ergon-') and name != 'x-svc-event']
        if self.event is not None:
            self.headers.append(('x-svc-event', self.event))
        self.url = urlsplit(self.given.get('x-ergon-url', ''))
        self.ip = self.given.get('x-forwarded-for', '').split(',')[-1].strip()


async def read_request(reader):
    """The next request of a connection, with its whole body; the ingress limits its length."""
    head = (await reader.readuntil(b'\r\n\r\n')).decode('latin-1')
    first, *lines = head[:-4].split('\r\n')
    method, path, _ = first.split(' ')
    pairs = [line.partition(':') for line in lines]
    headers = [(name.lower(), value.strip()) for name, _, value in pairs]
    given = dict(headers)
    if 'chunked' not in given.get('transfer-encoding', ''):
        return Request(method, path, headers, await reader.readexactly(int(given.get('content-length', 0))))
    parts = []
    while size := int((await reader.readuntil(b'\n')).split(b';')[0], 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    while (await reader.readuntil(b'\n')).strip():
        pass
    return Request(method, path, headers, b''.join(parts))


class Answer:
    """A body that is whole has its figure of CPU in the head; of a longer one it follows as a trailer."""

    def __init__(self, writer, is_head, run=None):
        self.writer, self.is_head, self.run = writer, is_head, run
        self.is_begun = self.is_ended = False
        self.status, self.headers = None, []

    def start(self, status, headers):
        self.status = int(status)
        pairs = [(bytes_of(name).lower(), bytes_of(value)) for name, value in headers]
        for name, value in pairs:
            if not TOKEN.fullmatch(name) or re.search(rb'[\r\n\0]', value):
                raise ValueError(f'Not a header: {name}: {value}')
        self.headers = [(name, value) for name, value in pairs if name.decode() not in HOP_BY_HOP]

    def say_processing(self):
        self.writer.write(b'HTTP/1.1 102 Processing\r\n\r\n')

    async def send(self, chunk, more=False):
        if self.status is None or self.is_ended:
            raise RuntimeError('the answer has not begun, or has ended')
        if not self.is_begun:
            self._begin(len(chunk), more)
        if chunk and not self.is_bodiless:
            self.writer.write(b'%x\r\n%b\r\n' % (len(chunk), chunk) if self.is_chunked else chunk)
        if not more and self.is_chunked:
            self.writer.write(b'0\r\nx-ergon-cpu-us: %d\r\n\r\n' % self._cpu_us())
        self.is_ended = not more
        await self.writer.drain()

    def _begin(self, length, more):
        self.is_bodiless = self.is_head or self.status in BODILESS
        self.is_chunked = more and not self.is_bodiless
        headers = self.headers
        if self.is_chunked or self.status in BODILESS or not (more or self.is_head):
            headers = [pair for pair in headers if pair[0] != b'content-length']
        if self.is_chunked:
            headers = headers + [(b'transfer-encoding', b'chunked'), (b'trailer', b'x-ergon-cpu-us')]
        elif self.run is not None:
            headers = headers + [(b'x-ergon-cpu-us', b'%d' % self._cpu_us())]
        if not (more or self.is_head or self.status in BODILESS):
            headers = headers + [(b'content-length', b'%d' % length)]
        lines = b''.join(b'%b: %b\r\n' % pair for pair in headers)
        self.writer.write(b'HTTP/1.1 %d \r\n%b\r\n' % (self.status, lines))
        self.is_begun = True

    def _cpu_us(self):
        share()
        return round(self.run.cpu_us)


def bytes_of(value):
    return value if isinstance(value, bytes) else str(value).encode('latin-1')
