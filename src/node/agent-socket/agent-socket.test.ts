// Both ends of the agent's socket, and raw connections of processes that keep to nothing.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '#base/log.ts'
import { AgentSilent, askAgent, followAgent, type AgentRequest } from './ask-agent.ts'
import { LINE_CHARACTERS_MAX, lineOf } from './json-lines.ts'
import { serveAgent, type OpenRequest } from './serve-agent.ts'

const SECRET = 'secret'
const PATH = '/fn_a/1'
/** Longer than a way over the socket. */
const REST_MS = 100
const LONG_MS = 60_000

function agentIn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-agent-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return { socketPath: join(folder, 'agent'), secret: SECRET }
}

/** An agent that keeps every request open. */
async function open(t: TestContext, firstLineMs = LONG_MS) {
  const agent = agentIn(t)
  const requests: OpenRequest[] = []
  const waiting: ((request: OpenRequest) => void)[] = []
  const take = (request: OpenRequest) => {
    requests.push(request)
    waiting.shift()?.(request)
  }
  const server = await serveAgent(agent, take, { firstLineMs })
  t.after(() => server.close())
  return {
    agent,
    server,
    requests,
    next: () => new Promise<OpenRequest>((resolve) => waiting.push(resolve)),
    ask(more: Partial<AgentRequest> = {}) {
      const lines: unknown[] = []
      const take = (line: unknown) => void lines.push(line)
      const asked = askAgent(agent, { path: PATH, firstLineMs: LONG_MS, take, ...more })
      t.after(() => asked.end())
      return { ...asked, lines }
    },
    /** The bytes that a connection gets for this text, until it is closed. */
    async sent(text: string | Buffer): Promise<string> {
      const socket = connect(agent.socketPath)
      socket.on('error', () => undefined)
      socket.write(text)
      let got = ''
      socket.on('data', (chunk) => void (got += String(chunk)))
      await new Promise((resolve) => socket.once('close', resolve))
      return got
    },
  }
}

const ended = (request: OpenRequest) => new Promise<void>((resolve) => request.whenEnded(resolve))

async function until(holds: () => boolean): Promise<void> {
  for (let nth = 0; !holds(); nth++) {
    assert.ok(nth < 500)
    await pause(10)
  }
}

test('lines go both ways until the process ends its request', async (t) => {
  const { next, ask } = await open(t)
  const asking = ask()
  const request = await next()
  assert.equal(request.path, PATH)
  const heard: unknown[] = []
  request.onLine = (line) => void heard.push(line)
  request.say({ address: 'ü' })
  asking.say({ late: true })
  await until(() => heard.length > 0 && asking.lines.length > 0)
  assert.deepEqual([heard.at(-1), asking.lines], [{ late: true }, [{ address: 'ü' }]])
  asking.end()
  await ended(request)
  assert.match((await asking.ended).message, /the request has ended/)
  // After the end nothing is an error, and a late listener is called too.
  assert.equal(request.isOpen, false)
  request.say({ more: true })
  request.end({ more: true })
  asking.say({ more: true })
  await ended(request)
})

test('the last lines of the agent arrive before the end, however many they are', async (t) => {
  const { next, ask } = await open(t)
  const asking = ask()
  const request = await next()
  const text = 'x'.repeat(60_000)
  for (let nth = 0; nth < 200; nth++) request.say({ nth, text })
  request.end({ last: true })
  request.say({ more: true })
  assert.match((await asking.ended).message, /the agent has ended the request/)
  assert.deepEqual([asking.lines.length, asking.lines.at(-1)], [201, { last: true }])
  await ended(request)
})

test('the last line of the agent arrives also where the process writes behind it', async (t) => {
  const { next, ask } = await open(t)
  const asking = ask()
  const request = await next()
  request.onLine = () => assert.fail('behind the end')
  request.end({ last: true })
  // Before the process reads.
  setImmediate(() => asking.say({ late: true }))
  assert.match((await asking.ended).message, /the agent has ended the request/)
  assert.deepEqual(asking.lines, [{ last: true }])
  await ended(request)
})

test('a connection without the secret is cut off without a word', async (t) => {
  const { sent, requests } = await open(t)
  const right = { secret: SECRET, path: PATH }
  const wrong = { secret: 'guess1', path: PATH }
  const strangers = {
    'another secret': lineOf(wrong),
    'a longer secret': lineOf({ secret: `${SECRET}1`, path: PATH }),
    'a secret of as many letters and more bytes': lineOf({ secret: 'sécret', path: PATH }),
    'a second guess in one write': lineOf(wrong) + lineOf(right),
    'no path': lineOf({ secret: SECRET }),
    'a secret that is no text': lineOf({ secret: [SECRET], path: PATH }),
    null: 'null\n',
    'HTTP, as a browser sends it': 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'bytes of nothing': `${String.fromCharCode(0, 255, 10)}\n`,
    'an endless line': 'x'.repeat(2 * LINE_CHARACTERS_MAX),
  }
  for (const [what, text] of Object.entries(strangers)) assert.equal(await sent(text), '', what)
  assert.equal(requests.length, 0)
})

test('a connection without its first line is cut off in time, also where some of the line comes', async (t) => {
  const { agent, requests } = await open(t, REST_MS)
  const socket = connect(agent.socketPath)
  const dripping = setInterval(() => socket.write(' '), REST_MS / 5)
  t.after(() => clearInterval(dripping))
  // A write behind the cut fails, and once() would reject.
  socket.on('error', () => undefined).resume()
  await new Promise((resolve) => socket.once('close', resolve))
  assert.equal(requests.length, 0)
})

test('a request outlives the time for its first line', async (t) => {
  const { next, ask } = await open(t, REST_MS)
  const asking = ask()
  const request = await next()
  await pause(3 * REST_MS)
  assert.equal(request.isOpen, true)
  asking.end()
})

test('an endless line, one that is no JSON, and one that is refused end the request', async (t) => {
  const { agent, next } = await open(t)
  for (const text of ['x'.repeat(2 * LINE_CHARACTERS_MAX), '{"late"\n', '"refused"\n']) {
    const socket = connect(agent.socketPath)
    socket.on('error', () => undefined)
    socket.write(lineOf({ secret: SECRET, path: PATH }))
    const request = await next()
    request.onLine = () => assert.fail('refused')
    socket.write(text)
    await ended(request)
  }
})

test('a process that is killed while the agent tells it much ends its request', async (t) => {
  const { agent, next } = await open(t)
  const socket = connect(agent.socketPath)
  socket.write(lineOf({ secret: SECRET, path: PATH }))
  const request = await next()
  // The process reads nothing.
  for (let nth = 0; nth < 100; nth++) request.say({ text: 'x'.repeat(60_000) })
  socket.destroy()
  await ended(request)
  request.say({ more: true })
  assert.equal(request.isOpen, false)
})

test('a process that says no more has ended its request, though it still listens', async (t) => {
  const { agent, next } = await open(t)
  const socket = connect({ path: agent.socketPath, allowHalfOpen: true })
  socket.on('error', () => undefined)
  socket.end(lineOf({ secret: SECRET, path: PATH }))
  await ended(await next())
})

test('a silent agent is given up, and one that has answered is not', async (t) => {
  const { next, ask } = await open(t)
  const silent = ask({ firstLineMs: REST_MS })
  const reason = await silent.ended
  assert.ok(reason instanceof AgentSilent, String(reason))
  ask({ firstLineMs: 2 * REST_MS })
  const request = await next()
  request.say({ first: true })
  await pause(3 * REST_MS)
  assert.equal(request.isOpen, true)
})

test('a request ends with its signal, and leaves nothing on it', async (t) => {
  const { next, ask, requests } = await open(t)
  const ending = new AbortController()
  const { signal } = ending
  let listeners = 0
  const { addEventListener: add, removeEventListener: remove } = signal
  signal.addEventListener = (...given: Parameters<typeof add>) => (
    listeners++,
    add.apply(signal, given)
  )
  signal.removeEventListener = (...given: Parameters<typeof remove>) => (
    listeners--,
    remove.apply(signal, given)
  )
  const first = ask({ signal })
  await next()
  first.end()
  await first.ended
  assert.equal(listeners, 0)
  const asking = ask({ signal })
  const request = await next()
  ending.abort(new Error('of the caller'))
  await ended(request)
  assert.match((await asking.ended).message, /the request has ended/)
  await ask({ signal }).ended
  await pause(REST_MS)
  assert.equal(requests.length, 2, 'nothing is asked after the abort')
})

test('an agent that is away, ends or sends nonsense has one plain reason, and is asked again', async (t) => {
  const { agent, server, next, ask } = await open(t)
  const asking = ask()
  const request = await next()
  await server.close()
  assert.match((await asking.ended).message, /^the agent has ended the request$/)
  assert.equal(request.isOpen, false)
  assert.match((await ask().ended).message, /^the agent is away: ENOENT$/)
  const warned: string[] = []
  const ending = new AbortController()
  const log = createLogger('test', { write: (line) => void warned.push(line) })
  let begun = 0
  const begin = () => (begun++, () => undefined)
  const { signal } = ending
  const following = followAgent(agent, { path: PATH, begin }, { log, signal })
  await until(() => begun === 2)
  assert.match(warned.join('\n'), /The agent is asked again.*the agent is away: ENOENT/)
  const sockets: Socket[] = []
  const nonsense = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  await once(nonsense.listen(agent.socketPath), 'listening')
  t.after(() => nonsense.close())
  await until(() => sockets.length === 1)
  sockets[0]?.write('HTTP/1.1 400 Bad Request\r\n\r\n')
  await until(() => begun >= 3 && sockets.length === 2)
  sockets[1]?.write('x'.repeat(2 * LINE_CHARACTERS_MAX))
  await until(() => sockets.length === 3)
  assert.match(warned.at(-1) ?? '', /a line is too long/)
  ending.abort()
  await following
  for (const socket of sockets) socket.destroy()
})
