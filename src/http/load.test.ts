// Limits of requests that run at once: the memory of their bodies, the share of one account in the process.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Handler } from './reply.ts'
import { ACCOUNT_REQUESTS_MAX, createAccountLoad } from './account-load.ts'
import { startTestHttp, type TestHttp } from './test-server.fixture.ts'

const UNPAID_MAX = 4
const OPTIONS = { timeout: 120_000 }
/** An eighth of the memory for bodies: they are far longer than a piece of them (64 KiB). */
const PART = 256 * 1024

const pong: Handler = () => ({ kind: 'known', status: 200, body: () => ({ pong: true }) })

/** A handler that waits, how many are in it, and a way to let all go on. */
function gate() {
  const go = Promise.withResolvers<void>()
  let inside = 0
  const full = (count: number) =>
    new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (inside < count) return
        clearInterval(look)
        resolve()
      }, 5)
    })
  const handler: Handler = async () => {
    inside++
    await go.promise
    inside--
    return { kind: 'known', status: 200, body: () => ({}) }
  }
  return { handler, full, open: go.resolve }
}

const url = ({ port }: TestHttp, path: string) => `http://127.0.0.1:${port}${path}`
const jsonOf = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))

async function post(http: TestHttp, path: string, body: string) {
  const answer = await fetch(url(http, path), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { error } = (await answer.json()) as { error?: { code: string } }
  return { status: answer.status, code: error?.code, retryAfter: answer.headers.get('retry-after') }
}

/** Opens a request on a connection of its own and sends part of its body. */
async function unfinished(http: TestHttp, sentBytes: number): Promise<Socket> {
  const socket = connect({ port: http.port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = `POST /ping HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${8 * PART}\r\n\r\n`
  socket.write(head + 'x'.repeat(sentBytes))
  return socket
}

test(
  'bodies beyond the memory for them are refused, and later ones find it free again',
  OPTIONS,
  async () => {
    const { handler, full, open } = gate()
    await using http = await startTestHttp(
      { '/hold': handler, '/ping': pong },
      { bodyMemoryBytes: 8 * PART },
    )
    const body = jsonOf(2 * PART)
    const held = [1, 2, 3, 4].map(() => post(http, '/hold', body))
    await full(4)
    const refused = await Promise.all(Array.from({ length: 20 }, () => post(http, '/ping', body)))
    for (const answer of refused)
      assert.deepEqual(answer, { status: 503, code: 'overloaded', retryAfter: '1' })
    open()
    for (const { status } of await Promise.all(held)) assert.equal(status, 200)
    // Every path gives back: answered, refused for its size, its form, or by a handler that is absent.
    for (let nth = 0; nth < 3; nth++) {
      assert.equal((await post(http, '/ping', jsonOf(7 * PART))).status, 200)
      assert.equal((await post(http, '/ping', 'x'.repeat(7 * PART))).code, 'invalid_json')
      assert.equal((await post(http, '/none', jsonOf(7 * PART))).status, 404)
    }
  },
)

test(
  'a body is held as it comes, and let go when its sender leaves',
  OPTIONS,
  async ({ signal }) => {
    await using http = await startTestHttp({ '/ping': pong }, { bodyMemoryBytes: 8 * PART })
    // A declared length takes no memory: these requests declare ten times the limit.
    const silent = await Promise.all(Array.from({ length: 10 }, () => unfinished(http, 0)))
    assert.equal((await post(http, '/ping', jsonOf(7 * PART))).status, 200)
    let half = await unfinished(http, 5 * PART)
    let answer = await post(http, '/ping', jsonOf(4 * PART))
    // The half body may still be on its way through the socket; or it came when the one before it was not let go
    // yet, and was refused itself.
    while (answer.status === 200 && !signal.aborted) {
      if (half.read() !== null) half = await unfinished(http, 5 * PART)
      answer = await post(http, '/ping', jsonOf(4 * PART))
    }
    assert.equal(answer.code, 'overloaded')
    half.destroy()
    while (answer.status !== 200 && !signal.aborted)
      answer = await post(http, '/ping', jsonOf(4 * PART))
    for (const socket of silent) socket.destroy()
  },
)

test('an account has a bounded number of requests under way', OPTIONS, async () => {
  const { handler, full, open } = gate()
  await using http = await startTestHttp(
    { '/hold': handler, '/ping': pong },
    { accountRequests: 3 },
  )
  const held = [1, 2, 3].map(() => fetch(url(http, '/hold')))
  await full(3)
  for (const path of ['/ping', '/hold']) {
    const answer = await fetch(url(http, path))
    const { error } = (await answer.json()) as { error: { code: string; type: string } }
    assert.equal(answer.status, 429)
    assert.equal(answer.headers.get('retry-after'), '1')
    assert.deepEqual([error.code, error.type], ['too_many_requests', 'rate_limit_error'])
    // Unlike an empty balance, this one is worth another try.
    assert.equal(answer.headers.get('x-should-retry'), null)
  }
  open()
  for (const answer of await Promise.all(held)) assert.equal(answer.status, 200)
  for (let nth = 0; nth < 10; nth++) assert.equal((await fetch(url(http, '/ping'))).status, 200)
})

test('a few requests that an account cannot pay run at once, besides its own and those of others', () => {
  const load = createAccountLoad(ACCOUNT_REQUESTS_MAX)
  const leave = Array.from({ length: UNPAID_MAX }, () => load.enterUnpaid('acct_a'))
  assert.throws(() => load.enterUnpaid('acct_a'), { code: 'too_many_requests' })
  load.enterUnpaid('acct_b')
  load.enter('acct_a')
  leave[0]?.()
  load.enterUnpaid('acct_a')
})
