"""Handlers of AWS Lambda: requests as events of payload format 2.0, and their results as answers, as in lambda.mjs."""
import asyncio
import base64
import contextvars
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from inspect import iscoroutinefunction
from urllib.parse import parse_qsl

from python.config import config
from python.log import compact, end

TEXT = re.compile(r'(text/|application/(.*\+)?(json|xml|javascript|x-www-form-urlencoded)\b)', re.I)
# A cell has 64 processes, and a thread is one.
THREADS_MAX = 40
# After the ingress has given up.
LATE_S = 1

pool = ThreadPoolExecutor(THREADS_MAX)


class Context:
    """As of AWS Lambda."""

    def __init__(self, run):
        self.function_name, self.function_version = config['name'], str(config['version'])
        self.memory_limit_in_mb = str(config['memoryBytes'] // 1_000_000)
        self.aws_request_id, self.energy = run.id, run.energy
        self._last_s = time.monotonic() + config['timeoutMs'] / 1000

    def get_remaining_time_in_millis(self):
        return max(0, round((self._last_s - time.monotonic()) * 1000))


def event_of(request, run):
    """The event of payload format 2.0."""
    headers = {}
    for name, value in request.headers:
        between = '; ' if name == 'cookie' else ', '
        headers[name] = f'{headers[name]}{between}{value}' if name in headers else value
    cookies, url, parameters = headers.pop('cookie', None), request.url, {}
    for name, value in parse_qsl(url.query, keep_blank_values=True):
        parameters[name] = f'{parameters[name]},{value}' if name in parameters else value
    is_text = TEXT.match(headers.get('content-type', 'text/plain')) and 'content-encoding' not in headers
    body, host, now_s = request.body, url.hostname or '', time.time()
    return {
        'version': '2.0', 'routeKey': '$default', 'rawPath': url.path, 'rawQueryString': url.query,
        **({} if cookies is None else {'cookies': re.split('; *', cookies)}),
        'headers': headers,
        **({'queryStringParameters': parameters} if parameters else {}),
        'requestContext': {
            'accountId': 'anonymous', 'apiId': host.split('.')[0], 'domainName': host,
            'domainPrefix': host.split('.')[0],
            'http': {'method': request.method, 'path': url.path, 'protocol': 'HTTP/1.1',
                     'sourceIp': request.ip, 'userAgent': headers.get('user-agent', '')},
            'requestId': run.id, 'routeKey': '$default', 'stage': '$default',
            'time': time.strftime('%d/%b/%Y:%H:%M:%S +0000', time.gmtime(now_s)),
            'timeEpoch': int(now_s * 1000),
        },
        **({'body': body.decode(errors='replace') if is_text else base64.b64encode(body).decode()} if body else {}),
        'isBase64Encoded': bool(body and not is_text),
    }


async def answer_lambda(made, answer):
    """A result without `statusCode` is the body of a 200: a string as it is, anything else as JSON."""
    if not (isinstance(made, dict) and 'statusCode' in made):
        made = {'statusCode': 200, 'body': made if isinstance(made, str) else compact(made)}
    headers = {'content-type': 'application/json'}
    for name, value in (made.get('headers') or {}).items():
        headers[name.lower()] = str(value).lower() if isinstance(value, bool) else value
    cookies = [('set-cookie', cookie) for cookie in made.get('cookies') or []]
    body = made.get('body')
    text = body if isinstance(body, str) else '' if body is None else compact(body)
    answer.start(made['statusCode'], [*headers.items(), *cookies])
    await answer.send(base64.b64decode(text) if made.get('isBase64Encoded') else text.encode())


async def run_handler(handler, request, answer):
    """Synchronous code runs in a thread, which nothing can end: where it is late the process ends."""
    run = answer.run
    event = event_of(request, run) if request.event is None else json.loads(request.body)
    limit_s = config['timeoutMs'] / 1000 + LATE_S
    if iscoroutinefunction(handler):
        made = await asyncio.wait_for(handler(event, Context(run)), limit_s)
    else:
        call = contextvars.copy_context().run
        work = asyncio.get_running_loop().run_in_executor(pool, call, handler, event, Context(run))
        done, _ = await asyncio.wait([work], timeout=limit_s)
        if not done:
            end(1, 'The handler did not return in time, and its process ends')
        made = work.result()
    if request.event is None:
        return await answer_lambda(made, answer)
    answer.start(204, [])
    await answer.send(b'')
