import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { floodInterim } from './interim-flood.fixture.ts'
import { callUnix, keepConnections } from './unix-client.ts'
import { readWhole, sendJson, serveUnix } from './unix-server.ts'

function socketOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-unix-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'a.sock')
}

/** Answers with the method and the body; on /lines with three lines, on /silent not at all, on /unended without an end. */
async function echo(t: TestContext, socket: string) {
  const made = await serveUnix({ socket, mode: 0o600 }, (request, response) => {
    if (request.url === '/silent') return
    if (request.url === '/unended') return void response.write('a part')
    if (request.url === '/lines') {
      response.write('{"progress":1}\n{"prog')
      setImmediate(() => response.end('ress":2}\n{"result":3}\n'))
      return
    }
    readWhole(request, 100, () => new RangeError('too large')).then(
      (body) => sendJson(response, 200, { method: request.method, body: body.toString(), n: 1n }),
      (error: Error) => sendJson(response, 413, { error: error.message }),
    )
  })
  t.after(() => made.close())
}

test('callUnix() brings a body and an answer, on a socket that replaces a dead one', async (t) => {
  const socketPath = socketOf(t)
  writeFileSync(socketPath, 'left by a killed process')
  await echo(t, socketPath)
  assert.equal(statSync(socketPath).mode & 0o777, 0o600)
  const connections = keepConnections(1)
  t.after(() => connections.close())
  const got = await callUnix({ socketPath, path: '/', body: { a: 1 }, connections })
  assert.deepEqual(JSON.parse(got.text), { method: 'POST', body: '{"a":1}', n: '1' })
  const large = await callUnix({ socketPath, path: '/', body: Buffer.alloc(101) })
  assert.deepEqual([large.status, JSON.parse(large.text)], [413, { error: 'too large' }])
  assert.match((await callUnix({ socketPath, path: '/' })).text, /"GET"/)
})

test('callUnix() tells lines as they come and keeps the last', async (t) => {
  const socketPath = socketOf(t)
  await echo(t, socketPath)
  const lines: string[] = []
  const { text } = await callUnix({
    socketPath,
    path: '/lines',
    onLine: (line) => lines.push(line),
  })
  assert.deepEqual([lines, text.trim()], [['{"progress":1}', '{"progress":2}'], '{"result":3}'])
})

test('callUnix() ends with silence, with its signal, and with an answer that is too long', async (t) => {
  const socketPath = socketOf(t)
  await echo(t, socketPath)
  const silence = { ms: 50, fault: () => new RangeError('silent') }
  await assert.rejects(callUnix({ socketPath, path: '/silent', silence }), /silent/)
  const signal = AbortSignal.abort()
  await assert.rejects(callUnix({ socketPath, path: '/silent', signal }), { name: 'AbortError' })
  await assert.rejects(callUnix({ socketPath, path: '/', bytesMax: 3 }), /too long/)
})

test('callUnix() rejects with the reason of a signal that aborts before or amid the answer', async (t) => {
  const socketPath = socketOf(t)
  await echo(t, socketPath)
  const reason = new RangeError('the account cannot pay')
  for (const path of ['/silent', '/unended']) {
    const ending = new AbortController()
    const call = callUnix({ socketPath, path, signal: ending.signal })
    setTimeout(() => ending.abort(reason), 50)
    await assert.rejects(call, (error) => error === reason)
  }
  await assert.rejects(
    callUnix({ socketPath, path: '/silent', signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  )
})

test('callUnix() ends with a server that sends interim answers without end', async (t) => {
  const socketPath = socketOf(t)
  await floodInterim(t, socketPath)
  const signal = AbortSignal.timeout(5000)
  await assert.rejects(callUnix({ socketPath, path: '/', signal }), /more than 16 interim answers/)
})
