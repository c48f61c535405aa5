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

type Figures = { readonly totals: Readonly<Record<string, number>>; readonly cpuNs: number }

/** An ingress of the instances a and b, and the figures of a span of its life. */
async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-counted-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const instance = createServer((_request, response) => void response.end(PAGE))
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
function frame(type: number, length: number): Buffer {
  const bytes = Buffer.alloc(9 + length)
  bytes.writeUIntBE(length, 0, 3)
  bytes[3] = type
  return bytes
}
const SETTINGS = 4
const PING = 6
const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0)])
const PINGS = Buffer.concat(Array.from({ length: 50 }, () => frame(PING, 8)))

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
const ONE_BYTE = Buffer.from('x')

for (const { what, first, next } of [
  { what: 'pings of HTTP/2', first: PREFACE, next: PINGS },
  { what: 'heads that come byte by byte', first: HEAD, next: ONE_BYTE },
])
  test(`a neighbour pays nothing of ${what}`, async (t) => {
    const { port, askMany, during } = await start(t)
    await during(() => askMany('b', 1000))
    const alone = await during(() => askMany('b', 300))
    using _ = flood(port, first, () => next)
    const beside = await during(() => askMany('b', 300))
    t.diagnostic(`${alone.b} ns alone, ${beside.b} of ${beside.all} ns beside a flood`)
    assert.ok(beside.all > 2 * alone.all, 'a flood')
    assert.ok(beside.b < 2 * alone.b, `${alone.b} ns alone, ${beside.b} beside a flood`)
  })
