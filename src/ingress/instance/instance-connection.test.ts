// Connections to an instance that answers in bytes of its own: which of them are kept, and how answers fail.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openInstancePool, type InstancePool } from '#ingress/instance-pool.ts'
import { NotAnswered } from '#http-client/not-answered.ts'
import { NotHttp } from '#http-client/heads.ts'
import type { AnswerTaker } from '#http-client/http-connection.ts'
import { streamed } from '#ingress/instance-request.ts'
import type { RequestBody } from './send-body.ts'
import { NO_WORK } from '#ingress/uncounted.fixture.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const SHORT = `${OK}Content-Length: 2\r\n\r\nhi`
const EARLY_MS = 20

/** Calls `answer` with each socket and what it has been asked. */
async function open(t: TestContext, answer: (socket: Socket, asked: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-connection-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'instance')
  let connectionsCount = 0
  const server = createServer((socket) => {
    connectionsCount++
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => answer(socket, String(bytes)))
  })
  await once(server.listen(path), 'listening')
  const pool = openInstancePool(`unix:${path}`, NO_WORK)
  t.after(() => {
    pool.destroy()
    server.close()
  })
  return { pool, connectionsCount: () => connectionsCount }
}

/** Resolves with the body. */
const ask = (
  pool: Pick<InstancePool, 'ask'>,
  {
    method = 'GET',
    path = '/',
    headers = ['host', 'localhost'],
    body: sent = undefined as RequestBody | undefined,
  } = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    let body = ''
    const taker: AnswerTaker = {
      interim() {},
      head() {},
      piece: (bytes) => void (body += bytes.toString('latin1')),
      waits: () => true,
      end: () => resolve(body),
      switched: () => reject(new TypeError('It has switched')),
      failed: reject,
    }
    const more = { isUpgrade: false, body: sent && streamed(sent) }
    pool.ask({ method, path, headers, ...more }, taker)
  })

const KEPT = {
  'a length': SHORT,
  chunks: `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  'no body': 'HTTP/1.1 204 No Content\r\n\r\n',
  'a length of none': `${OK}Content-Length: 0\r\n\r\n`,
}
const ENDED = {
  'its end told': `${OK}Connection: Keep-Alive, Close\r\nContent-Length: 2\r\n\r\nhi`,
  'the old version': 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi',
  'more than the answer': `${SHORT}${OK}Content-Length: 6\r\n\r\nforged`,
}
for (const [what, bytes] of Object.entries({ ...KEPT, ...ENDED }))
  test(`a connection with ${what} is ${what in KEPT ? 'kept' : 'used once'}`, async (t) => {
    const { pool, connectionsCount } = await open(t, (socket) => socket.write(bytes))
    const bodies = [await ask(pool), await ask(pool), await ask(pool)]
    assert.deepEqual(bodies, Array(3).fill(bytes.includes('hi') ? 'hi' : ''))
    assert.equal(connectionsCount(), what in KEPT ? 1 : 3)
  })

test('a connection whose end is that of the answer is used once', async (t) => {
  const { pool, connectionsCount } = await open(t, (socket) => socket.end(`${OK}\r\nhi`))
  // At once: the connection has not closed yet.
  for (let nth = 1; nth <= 5; nth++) {
    assert.equal(await ask(pool), 'hi')
    assert.equal(connectionsCount(), nth)
  }
})

test('bytes for which nobody has asked are no answer', async (t) => {
  const { pool, connectionsCount } = await open(t, (socket) => {
    socket.write(SHORT)
    setTimeout(() => socket.write(`${OK}Content-Length: 6\r\n\r\nforged`), EARLY_MS)
  })
  assert.equal(await ask(pool), 'hi')
  await pause(5 * EARLY_MS)
  assert.equal(await ask(pool), 'hi')
  assert.equal(connectionsCount(), 2)
})

test('requests at once have a connection each, and the kept ones end with the pool', async (t) => {
  const sockets = new Set<Socket>()
  const { pool, connectionsCount } = await open(t, (socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
    setTimeout(() => socket.write(SHORT), EARLY_MS)
  })
  assert.deepEqual(await Promise.all([ask(pool), ask(pool), ask(pool)]), ['hi', 'hi', 'hi'])
  assert.equal(connectionsCount(), 3)
  const running = ask(pool)
  pool.close()
  assert.equal(await running, 'hi')
  await assert.rejects(ask(pool), NotAnswered)
  for (let nth = 0; sockets.size > 0; nth++) {
    assert.ok(nth < 200, 'a connection has not ended')
    await pause(10)
  }
})

test('a connection that ends is no answer, and one that nobody has begun may be asked again', async (t) => {
  const cut = `${OK}Content-Length: 9\r\n\r\nhi`
  for (const bytes of ['', 'HTTP/1.1 200', cut, `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi`]) {
    const { pool } = await open(t, (socket) => socket.end(bytes))
    await assert.rejects(
      ask(pool),
      (error) => error instanceof NotAnswered && error.isReset,
      JSON.stringify(bytes),
    )
  }
  const nowhere = openInstancePool('unix:/nowhere', NO_WORK)
  await assert.rejects(ask(nowhere), (error) => error instanceof NotAnswered && !error.isReset)
})

test('another protocol for which nobody has asked is a fault at once, also where the connection stays', async (t) => {
  const { pool } = await open(t, (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: own\r\n\r\n'),
  )
  await assert.rejects(ask(pool), NotHttp)
})

const INTERIM = 'HTTP/1.1 103 Early Hints\r\n\r\n'
const FLOODS = {
  'a plain body': { unit: 'x'.repeat(1000), isCostly: false },
  'large chunks': { unit: `2710\r\n${'x'.repeat(10_000)}\r\n`, isCostly: false },
  'small chunks': { unit: '3\r\nabc\r\n', isCostly: true },
  'interim heads': { unit: INTERIM, isCostly: true },
}
const FLOOD_BYTES = 1_000_000
for (const [what, { unit, isCostly }] of Object.entries(FLOODS))
  test(`an answer of ${what} is read ${isCostly ? 'once' : 'many times'} in a turn of the process`, async (t) => {
    const { pool } = await open(t, (socket) => {
      const head = `${OK}${what.endsWith('chunks') ? 'Transfer-Encoding: chunked\r\n' : ''}\r\n`
      const many = unit.repeat(FLOOD_BYTES / unit.length)
      socket.end(unit === INTERIM ? many + SHORT : head + many)
    })
    let [readsCount, readsMost, turnsCount] = [0, 0, 0]
    const turn = () => {
      readsMost = Math.max(readsMost, readsCount)
      readsCount = 0
      turnsCount++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    await new Promise<void>((resolve) => {
      const taker: AnswerTaker = {
        interim() {},
        head() {},
        piece() {},
        waits: () => (readsCount++, true),
        end: () => resolve(),
        switched() {},
        failed: () => resolve(),
      }
      const host = ['host', 'localhost']
      pool.ask(
        { method: 'GET', path: '/', headers: host, isUpgrade: false, body: undefined },
        taker,
      )
    })
    clearImmediate(next)
    if (isCostly) assert.equal(readsMost, 1)
    else assert.ok(readsMost > 1, `${readsMost} of ${turnsCount}`)
  })

test('an answer with much more framing than data has failed', async (t) => {
  const much = 400_000
  const chunked = `${OK}Transfer-Encoding: chunked\r\n\r\n`
  const absurd = {
    chunks: `${chunked}${'1\r\nx\r\n'.repeat(much)}`,
    extensions: `${chunked}${`1;a=${'b'.repeat(1000)}\r\nx\r\n`.repeat(much / 100)}`,
    'interim heads': INTERIM.repeat(much),
  }
  for (const [what, bytes] of Object.entries(absurd)) {
    const { pool } = await open(t, (socket) => socket.end(bytes))
    await assert.rejects(ask(pool), NotHttp, what)
  }
  // Of three bytes in a chunk there may be any number.
  const many = '3\r\nabc\r\n'.repeat(much)
  const { pool } = await open(t, (socket) => socket.write(`${chunked}${many}0\r\n\r\n`))
  assert.equal((await ask(pool)).length, 3 * much)
})

test('a body that is longer than told is not sent', async (t) => {
  let asked = ''
  const { pool } = await open(t, (socket, text) => {
    asked += text
    if (text.includes('GET')) socket.write(SHORT)
  })
  const stream = Readable.from([Buffer.from('ab'), Buffer.from('GET /')])
  const body = { stream, length: 2, bytesMax: 100 } as unknown as RequestBody
  await assert.rejects(ask(pool, { method: 'POST', body }), /its body is longer than told/)
  await pause(EARLY_MS)
  assert.doesNotMatch(asked, /GET/)
})

test('a request that would be two for the instance is not sent', async (t) => {
  let asked = ''
  const { pool } = await open(t, (socket, text) => {
    asked += text
    socket.write(SHORT)
  })
  const forged = 'x\r\n\r\nGET /other HTTP/1.1\r\nhost: x'
  for (const bad of [
    { path: `/ ${forged}` },
    { method: `GET /${forged}` },
    { headers: ['host', 'localhost', 'x-own', forged] },
    { headers: ['host', 'localhost', `x: ${forged}\r\ny`, '1'] },
    // Further lines that have their form.
    { path: '/ HTTP/1.1\r\nx-own: a\r\nx:' },
    { headers: ['host', 'localhost', 'x-own', 'a\r\nx-forged: b'] },
    { headers: ['host', 'localhost', 'x-own: a\r\nx-forged', 'b'] },
    // A writer of Latin-1 would cut it to a line feed.
    { headers: ['host', 'localhost', 'x-own', 'a\u010ab'] },
    { headers: ['host', 'localhost', 'content-length', '2'] },
    { headers: ['host', 'localhost', 'transfer-encoding', 'chunked'] },
  ])
    await assert.rejects(ask(pool, bad), NotHttp)
  assert.equal(await ask(pool), 'hi')
  assert.equal(asked, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
})
