// Connections to upstreams: how many there are, how fast they are read, and when they end or serve again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { quietLog } from '#inference/testing/offers.ts'
import {
  cellHello,
  DONE,
  plainChunk,
  startScriptedUpstream,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { callOf, read, textOf, withUpstreams } from './openai-provider.fixture.ts'
import { createOpenaiProvider } from './openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'

let server: ScriptedUpstream
let remote: Provider
withUpstreams((opened) => ({ server, remote } = opened))

test('an upstream that does not end after [DONE] keeps nobody waiting', async () => {
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a', 'stop') + DONE)
  }
  assert.equal(textOf(await read(remote)), 'a')
})

test('calls beyond the connections are refused at once', async () => {
  const narrow = createOpenaiProvider(
    {
      name: 'narrow',
      at: { kind: 'upstream', baseUrl: server.baseUrl, bandPct: 60 },
      connectionsMax: 1,
    },
    { clock: systemClock, log: quietLog },
  )
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a'))
  }
  try {
    const running = narrow.generate(callOf(), new AbortController().signal)
    await running.next()
    await assert.rejects(read(narrow), { code: 'overloaded', retryAfterS: 1 })
    await running.dispose()
  } finally {
    await narrow.close()
  }
})

test('a slow reader holds the upstream back', async () => {
  let written = 0
  const big = plainChunk('x'.repeat(60_000))
  server.script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const more = () => {
      while (written < 500) {
        written++
        if (!response.write(big)) return void response.once('drain', more)
      }
      response.end(plainChunk(null, 'stop'))
    }
    more()
  }
  const events = remote.generate(callOf({ tokensMax: 1_000 }), new AbortController().signal)
  await events.next()
  await new Promise((resume) => setTimeout(resume, 100))
  // 30 MB are asked for; the kernel's buffers hold a few.
  assert.ok(written < 400, `${written} chunks were taken from the upstream unread`)
  await events.dispose()
})

test('an aborted call rejects with the reason and closes the connection', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  server.script = (_asked, response) => void response.once('close', resolve)
  const leaving = new AbortController()
  const failed = assert.rejects(read(remote, callOf(), leaving.signal), /left/)
  while (server.asked.length === 0) await new Promise((resume) => setImmediate(resume))
  leaving.abort(new TypeError('The client left'))
  await failed
  await closed
})

test('connections are used again after whole answers', async () => {
  let sockets = 0
  const counting = await startScriptedUpstream('port', (asked, response) => {
    if (response.socket?.listenerCount('close') === undefined) return
    if (!seen.has(response.socket)) {
      seen.add(response.socket)
      sockets++
    }
    return streaming(...cellHello.slice(0, -1), DONE)(asked, response)
  })
  const seen = new WeakSet<object>()
  const provider = createOpenaiProvider(
    { name: 'again', at: { kind: 'upstream', baseUrl: counting.baseUrl, bandPct: 60 } },
    { clock: systemClock, log: quietLog },
  )
  try {
    for (let i = 0; i < 5; i++) assert.equal(textOf(await read(provider)), 'Hello world')
    // The end of one body may still be on its way when the next call needs a connection.
    assert.ok(sockets <= 2, `${sockets} connections for 5 calls`)
  } finally {
    await provider.close()
    await counting.close()
  }
})
