// The CPU of the ingress by the cells whose requests cause it: a real process of it, and its own clock.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { createServer } from '#base/node-http.ts'
import { serveAgent } from '#node/agent-socket/serve-agent.ts'

const PAGE = Buffer.alloc(4096, 'x')
const AT_ONCE = 16
/** Requests of a span: 300 say the same about a planted bill of a flood, and take longer. */
const SPAN = 120

type Figures = { readonly totals: Readonly<Record<string, number>>; readonly cpuNs: number }

/** An ingress of the instances a and b, and the figures of a span of its life. */
async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-counted-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const instance = createServer(({ url }, response) => void (url !== '/held' && response.end(PAGE)))
  await once(instance.listen(join(folder, 'instance')), 'listening')
  t.after(() => {
    instance.closeAllConnections()
    instance.close()
  })
  const agent = { socketPath: join(folder, 'agent'), secret: 'secret' }
  const server = await serveAgent(agent, (request) => {
    const cell = request.path.split('/')[1]?.replace('_', '-')
    const address = `unix:${join(folder, 'instance')}`
    request.say({ address, cell: `${cell}-1` })
  })
  const child = fork(join(import.meta.dirname, 'counting-ingress.fixture.ts'), [
    agent.socketPath,
    'a',
    'b',
  ])
  t.after(async () => {
    child.disconnect()
    await once(child, 'exit')
    await server.close()
  })
  const told = async <T>(): Promise<T> => ((await once(child, 'message')) as [T])[0]
  const { port } = await told<Pick<AddressInfo, 'port'>>()
  const figures = async (): Promise<Figures> => {
    child.send('figures')
    return await told<Figures>()
  }
  const connections = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  t.after(() => connections.destroy())
  const ask = async (host: string, isKept = true) => {
    const agent = isKept ? connections : false
    const request = get({ port, host: '127.0.0.1', agent, headers: { host } })
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream]
    await once(response.resume(), 'end')
  }
  const askMany = async (host: string, count: number, isKept?: boolean) => {
    let left = count
    const line = async () => {
      while (left-- > 0) await ask(host, isKept)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, line))
  }
  /** Nanoseconds of the ingress during some work: of a, of b, and of its whole process. */
  const during = async (work: () => Promise<unknown>) => {
    const before = await figures()
    await work()
    const after = await figures()
    const of = (cell: string) => (after.totals[cell] ?? 0) - (before.totals[cell] ?? 0)
    return { a: of('fn-a-1'), b: of('fn-b-1'), all: after.cpuNs - before.cpuNs }
  }
  return { port, askMany, during }
}

test('cells pay the CPU of the ingress by their requests, and never more than it used', async (t) => {
  const { askMany, during } = await start(t)
  await during(() => Promise.all([askMany('a', 500), askMany('b', 500)]))
  const spent = await during(() => Promise.all([askMany('a', 4000), askMany('b', 1000)]))
  const part = (spent.a + spent.b) / spent.all
  t.diagnostic(`${spent.all} ns, of which cells pay ${part}; a ÷ b ${spent.a / spent.b}`)
  assert.ok(part > 0.9 && part <= 1, `${part} of the CPU`)
  assert.ok(spent.a > 3 * spent.b && spent.a < 5 * spent.b, `${spent.a} and ${spent.b}`)
})

test('requests without a route, and connections, are nobody’s: a neighbour pays none of them', async (t) => {
  const { askMany, during } = await start(t)
  await during(() => askMany('b', 1000))
  const alone = await during(() => askMany('b', 1000))
  const beside = await during(() => Promise.all([askMany('b', 1000), askMany('none', 4000, false)]))
  t.diagnostic(`${alone.b} ns alone, ${beside.b} of ${beside.all} ns beside a flood`)
  assert.ok(beside.all > 3 * alone.all, 'a flood')
  assert.ok(beside.b < 2 * alone.b, `${alone.b} ns alone, ${beside.b} beside a flood`)
})

/** A frame of HTTP/2 (RFC 9113, 4.1). */
function frame(type: number, stream = 0, payload: readonly number[] = [], flags = 0): Buffer {
  const bytes = Buffer.alloc(9)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  return Buffer.concat([bytes, Buffer.from(payload)])
}
const DATA = 0
const HEADERS = 1
const PRIORITY = 2
const RST_STREAM = 3
const SETTINGS = 4
const PING = 6
const WINDOW_UPDATE = 8
/** Receivers ignore types that they do not know (RFC 9113, 4.1). */
const UNKNOWN = 0xfa
const END_STREAM = 1
const END_HEADERS = 4
const PADDED = 8
const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS)])
/** GET / of the host `none`, by the static table of HPACK. */
const OF_NONE = [0x82, 0x86, 0x84, 0x41, 4, ...Buffer.from('none')]
const many = (made: (nth: number) => Buffer, count = 50): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, nth) => made(nth)))
const streamOf = (nth: number): number => 2 * nth + 1

const FLOODING = 150

/** Opens connections, each of which does something again and again until the disposal. */
function flood(port: number, first: Buffer, act: (nth: number) => Buffer): Disposable {
  let isOver = false
  const sockets = new Set<ReturnType<typeof connect>>()
  const open = () => {
    if (isOver) return
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    sockets.add(socket)
    socket.on('error', () => undefined).resume()
    socket.once('close', () => {
      sockets.delete(socket)
      open()
    })
    socket.write(first)
    void (async () => {
      for (let nth = 0; !isOver && !socket.destroyed; nth++) {
        socket.write(act(nth))
        await pause(1)
      }
    })()
  }
  for (let nth = 0; nth < FLOODING; nth++) open()
  return {
    [Symbol.dispose]() {
      isOver = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

const HEAD = Buffer.from('GET / HTTP/1.1\r\nhost: b\r\nx: ')
const BODY = 'POST /held HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n'
const ONE_BYTE = Buffer.from('x')
const PINGS = many(() => frame(PING, 0, Array(8).fill(0)))
const EMPTY_SETTINGS = many(() => frame(SETTINGS))
const UPDATES = many(() => frame(WINDOW_UPDATE, 0, [0, 0, 0, 1]), 300)
const UNKNOWNS = many(() => frame(UNKNOWN), 300)
const PRIORITIES = many((nth) => frame(PRIORITY, streamOf(nth), [0, 0, 0, 0, 1]), 300)
const PADDING = many(() => frame(DATA, 1, [3, 0, 0, 0], PADDED))
const EMPTY_DATA = many(() => frame(DATA, 1))
const OPEN_STREAM = Buffer.concat([PREFACE, frame(HEADERS, 1, OF_NONE, END_HEADERS)])
const NOTHING = Buffer.alloc(0)
/** One at each sixteenth write: more would only take longer, as the ingress answers each. */
const resets = (nth: number): Buffer => {
  if (nth % 16 > 0) return NOTHING
  const stream = streamOf(nth / 16)
  const head = frame(HEADERS, stream, OF_NONE, END_HEADERS | END_STREAM)
  return Buffer.concat([head, frame(RST_STREAM, stream, [0, 0, 0, 8])])
}
/** A frame of 16 KiB that comes byte by byte, behind more bytes than a client needs to begin. */
const SLOW_FRAME = Buffer.concat([
  PREFACE,
  Buffer.from([0, 0x40, 0, UNKNOWN, 0, 0, 0, 0, 0]),
  Buffer.alloc(200),
])

for (const { what, first, next } of [
  { what: 'pings of HTTP/2', first: PREFACE, next: () => PINGS },
  { what: 'settings of HTTP/2', first: PREFACE, next: () => EMPTY_SETTINGS },
  { what: 'window updates of HTTP/2', first: PREFACE, next: () => UPDATES },
  { what: 'priorities of HTTP/2', first: PREFACE, next: () => PRIORITIES },
  { what: 'frames of types that nobody knows', first: PREFACE, next: () => UNKNOWNS },
  { what: 'frames that come byte by byte', first: SLOW_FRAME, next: () => ONE_BYTE },
  { what: 'streams of HTTP/2 that are reset at once', first: PREFACE, next: resets },
  { what: 'data frames without data', first: OPEN_STREAM, next: () => EMPTY_DATA },
  { what: 'data frames of padding alone', first: OPEN_STREAM, next: () => PADDING },
  { what: 'heads that come byte by byte', first: HEAD, next: () => ONE_BYTE },
  {
    what: 'extensions of chunks that come byte by byte',
    first: Buffer.from(`${BODY}1;`),
    next: () => ONE_BYTE,
  },
])
  test(`a neighbour pays nothing of ${what}`, async (t) => {
    const { port, askMany, during } = await start(t)
    await during(() => askMany('b', 1000))
    const span = () => during(() => askMany('b', SPAN))
    const alone = [await span(), await span(), await span()]
    using _ = flood(port, first, next)
    // The ingress notices frames of which Node says nothing within a fifth of a second.
    await pause(500)
    const beside = [await span(), await span(), await span()]
    // Equal spans differ by up to 1.8 on a busy machine.
    const most = (name: 'b' | 'all') => Math.max(...alone.map((spent) => spent[name]))
    const least = (name: 'b' | 'all') => Math.min(...beside.map((spent) => spent[name]))
    t.diagnostic(`${most('b')} ns alone, ${least('b')} of ${least('all')} ns beside a flood`)
    assert.ok(
      Math.max(...beside.map(({ all }) => all)) > 1.5 * Math.min(...alone.map(({ all }) => all)),
      'a flood',
    )
    assert.ok(least('b') < 1.6 * most('b'), `${most('b')} ns alone, ${least('b')} beside a flood`)
  })
