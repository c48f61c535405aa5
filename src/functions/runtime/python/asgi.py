"""Applications of ASGI 3.0, without lifespan and WebSocket."""
import asyncio
from urllib.parse import unquote

from python.config import config
from python.http1 import bytes_of

# After the ingress has given up.
LATE_S = 1
LEFT_LOOK_S = 0.2


async def run_asgi(app, request, answer, has_left):
    url, is_read = request.url, False
    scope = {
        'type': 'http', 'asgi': {'version': '3.0', 'spec_version': '2.3'}, 'http_version': '1.1',
        'method': request.method, 'scheme': url.scheme, 'path': unquote(url.path), 'root_path': '',
        'raw_path': url.path.encode(), 'query_string': url.query.encode(), 'client': (request.ip, 0),
        'headers': [(bytes_of(name), bytes_of(value)) for name, value in request.headers],
        'server': (url.hostname, url.port or {'https': 443}.get(url.scheme, 80)),
    }

    async def receive():
        nonlocal is_read
        if not is_read:
            is_read = True
            return {'type': 'http.request', 'body': request.body, 'more_body': False}
        while not (answer.is_ended or has_left()):
            await asyncio.sleep(LEFT_LOOK_S)
        return {'type': 'http.disconnect'}

    async def send(message):
        if message['type'] == 'http.response.start':
            answer.start(message['status'], message.get('headers', []))
        elif message['type'] == 'http.response.body':
            await answer.send(bytes(message.get('body', b'')), message.get('more_body', False))

    await asyncio.wait_for(app(scope, receive, send), config['timeoutMs'] / 1000 + LATE_S)
    if not answer.is_ended:
        raise RuntimeError('the application sent no whole answer')
