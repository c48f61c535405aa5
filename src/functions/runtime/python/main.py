"""Runs one function in its cell: loads the code, and answers requests on the unix socket. As in node24.mjs everything here
is within reach of that code, so nothing here is believed outside. It has the protocol of node24.mjs."""
import asyncio
import linecache
import logging
import os
import signal
import socket
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from python.asgi import LEFT_LOOK_S, run_asgi
from python.config import config
from python.cpu import Run, running, share
from python.faults import failure_of, shown
from python.http1 import Answer, read_request
from python.lambda_form import THREADS_MAX, run_handler
from python.log import Lines, Records, compact, current, end, say
# The code finds the standard library alone.
del sys.path[0]

LISTENER = 4
HEAD_BYTES_MAX = 262_144
ASGI_MOST = 20
NO_HANDLER = 'it has no handler: def handler(event, context), or an ASGI application named app'


class Function:
    """The code, once it is loaded: what answers requests, or why nothing can."""

    async def load(self):
        # In a thread: an agent that asks while the code loads gets an answer.
        self.loaded = asyncio.Event()
        self.failure, self.concurrency = await asyncio.to_thread(self._load)
        self.turns = asyncio.Semaphore(self.concurrency or 1)
        self.loaded.set()

    def _load(self):
        file, source = config['file'], config['source']
        module = types.ModuleType(file.removesuffix('.py'))
        sys.modules[module.__name__] = module
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        try:
            exec(compile(source, file, 'exec', dont_inherit=True), module.__dict__)
        except BaseException as error:
            say('error', shown(error))
            return failure_of(error), None
        self.handler, self.app = (getattr(module, name, None) for name in ('handler', 'app'))
        most = config.get('concurrency')
        if callable(self.handler):
            return None, min(most or 1, THREADS_MAX)
        return (None, most or ASGI_MOST) if callable(self.app) else (NO_HANDLER, None)

    async def turn(self, answer, has_left):
        """Whether the request runs: not where its caller has left. One that waits says so, and when it begins."""
        if not self.turns.locked():
            await self.turns.acquire()
            return True
        answer.say_processing()
        turn = asyncio.ensure_future(self.turns.acquire())
        while not turn.done() and not has_left():
            await asyncio.wait([turn], timeout=LEFT_LOOK_S)
        if has_left():
            # A turn that has just come goes to the next one.
            if not turn.cancel():
                self.turns.release()
            return False
        answer.say_processing()
        return True

    async def answer(self, request, answer, has_left):
        if not await self.turn(answer, has_left):
            raise ConnectionAbortedError
        try:
            await self.run(request, answer, has_left)
        finally:
            self.turns.release()

    async def run(self, request, answer, has_left):
        run = answer.run
        share()
        running.add(run)
        token = current.set(run)
        try:
            if callable(self.handler):
                await run_handler(self.handler, request, answer)
            else:
                await run_asgi(self.app, request, answer, has_left)
        except SystemExit as error:
            end(error.code if isinstance(error.code, int) else error.code is not None)
        except Exception as error:
            say('error', shown(error))
            if answer.is_begun:
                raise ConnectionAbortedError from error
            answer.start(500, [('x-ergon-failed', 'threw')])
            await answer.send(b'')
        finally:
            share()
            running.discard(run)
            sys.stdout.end()
            sys.stderr.end()
            current.reset(token)


async def answer_agent(path, answer):
    if path == '/-/idle':
        while running:
            await asyncio.sleep(0.05)
        answer.start(204, [])
        return await answer.send(b'')
    if path == '/-/loaded':
        await function.loaded.wait()
        page = {'failure': function.failure, 'concurrency': function.concurrency}
    else:
        page = {'ready': True}
    answer.start(200 if path in ('/-/ready', '/-/loaded') else 404, [])
    await answer.send(compact(page).encode())


async def serve(reader, writer):
    """Answers the requests of one connection, one after the other."""
    try:
        while True:
            request = await read_request(reader)
            is_head = request.method == 'HEAD'
            id = request.given.get('x-ergon-request-id')
            if id is None:
                await answer_agent(request.path, Answer(writer, is_head))
                continue
            answer = Answer(writer, is_head, Run(id, request.given.get('x-ergon-tariff')))
            await function.loaded.wait()
            if function.failure is None:
                await function.answer(request, answer, lambda: reader.at_eof() or writer.is_closing())
            else:
                answer.start(500, [('x-ergon-failed', 'load')])
                await answer.send(b'')
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.transport.abort()


async def stop(server):
    """Ends what runs, and then the process; the agent kills what takes too long."""
    server.close()
    while running:
        await asyncio.sleep(0.02)
    end(0)


async def main():
    listener = socket.socket(fileno=LISTENER)
    server = await asyncio.start_unix_server(serve, sock=listener, limit=HEAD_BYTES_MAX)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: asyncio.ensure_future(stop(server)))
    await function.load()
    await server.serve_forever()


function = Function()
# Those by which libraries find the proxy of the cell stay.
for name in list(os.environ):
    if name.lower() not in ('http_proxy', 'https_proxy', 'no_proxy'):
        del os.environ[name]
os.environ.update(config['env'])
sys.argv = [config['file']]
sys.stdout, sys.stderr = Lines('info'), Lines('error')
logging.root.addHandler(Records())
asyncio.run(main())
