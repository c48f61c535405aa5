// Code that answers without reading the body: its turn ends, and the client's connection goes on or ends.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openInstance } from './instance.fixture.ts'
import { listenPlain } from './server.ts'

const SHORT = Buffer.alloc(600_000, 'a')
const LONG = Buffer.alloc(8_000_000, 'a')
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
const limit = { timeout: 10_000 }

async function open(t: TestContext) {
  const { deps, users } = await openInstance(
    t,
    ({ method }, response) => response.writeHead(method === 'POST' ? 413 : 200).end('answered'),
    { concurrency: 1 },
  )
  const front = await listenPlain({ ...deps, listen: { host: '127.0.0.1', port: 0 } })
  t.after(() => front.drain())
  return { port: front.port, users }
}

/** All that comes until the end. */
async function readAll(socket: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  try {
    for await (const chunk of socket) text += String(chunk)
  } catch {
    // Its end, too, where the client has not sent all.
  }
  return text
}

test('after an early answer a connection of HTTP/1.1 takes the rest, or ends', limit, async (t) => {
  const { port } = await open(t)
  for (const [body, statuses] of [
    [SHORT, ['413', '200']],
    [LONG, ['413']],
  ] as const) {
    const client = connect(port, '127.0.0.1')
    client.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`)
    client.write(body)
    client.write(GET)
    const text = await readAll(client)
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      statuses,
    )
  }
})

test('refusals keep a connection of HTTP/1.1, except where a body may follow', limit, async (t) => {
  const { port } = await open(t)
  const client = connect(port, '127.0.0.1')
  const none = 'Host: none.invalid\r\n'
  client.write(`GET / HTTP/1.1\r\n${none}\r\n`.repeat(2))
  client.write(`POST / HTTP/1.1\r\n${none}Content-Length: ${LONG.length}\r\n\r\n`)
  const text = await readAll(client)
  assert.deepEqual(
    [...text.matchAll(/^connection: (.*)\r$/gim)].map(([, words]) => words),
    ['keep-alive', 'keep-alive', 'close'],
  )
})

test('an early answer by HTTP/2 ends its turn, and a long rest its stream', limit, async (t) => {
  const { port, users } = await open(t)
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  for (const body of [SHORT, LONG]) {
    const stream = session.request({ ':method': 'POST', ':authority': 'localhost' })
    const answered = once(stream, 'response') as Promise<[Record<string, unknown>]>
    // The client does not end it.
    stream.write(body)
    assert.equal((await answered)[0][':status'], 413)
    assert.equal(await readAll(stream), 'answered')
    const other = connect(port, '127.0.0.1')
    other.write(GET)
    assert.match(await readAll(other), /^HTTP\/1\.1 200/)
    assert.equal(users.size, 0)
    if (body === SHORT) stream.destroy()
    else await once(stream, 'close')
    if (body === LONG) assert.equal(stream.rstCode, 0)
  }
})
