// Answers of instances as clients of HTTP/2 see them.
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { openInstance } from './instance.fixture.ts'
import { listenPlain } from './server.ts'

/** The answer to a request in the clear, and the code with which its stream was closed. */
async function ask(t: TestContext, answer: RequestListener) {
  const { deps } = await openInstance(t, answer)
  const front = await listenPlain({ ...deps, listen: { host: '127.0.0.1', port: 0 } })
  t.after(() => front.drain())
  const session = connect(`http://localhost:${front.port}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  let headers: IncomingHttpHeaders = {}
  stream.on('response', (found) => (headers = found))
  stream.on('error', () => undefined)
  stream.resume()
  await new Promise<void>((resolve) => stream.once('close', () => resolve()))
  return { headers, code: stream.rstCode }
}

test('an answer that is cut off is no whole answer', async (t) => {
  for (const length of [{}, { 'content-length': '50' }]) {
    const { headers, code } = await ask(t, (_request, response) => {
      response.writeHead(200, length)
      response.write('hello')
      setTimeout(() => response.destroy(), 20)
    })
    assert.deepEqual([headers[':status'], code], [200, 2])
  }
})

test('headers that a client of HTTP/1.1 may get twice are one', async (t) => {
  const { headers, code } = await ask(t, (_request, response) => {
    const twice = ['etag', '"a"', 'etag', '"b"', 'vary', 'accept', 'vary', 'origin']
    response.writeHead(200, [...twice, 'set-cookie', 'a=1', 'set-cookie', 'b=2'])
    response.end('ok')
  })
  const { ':status': status, etag, vary, 'set-cookie': cookies } = headers
  assert.deepEqual([status, code, etag, vary], [200, 0, '"a"', 'accept, origin'])
  assert.deepEqual(cookies, ['a=1', 'b=2'])
})

test('an answer that has no content is whole', async (t) => {
  for (const status of [204, 205]) {
    const { headers, code } = await ask(t, (_request, response) => {
      response.writeHead(status, { 'x-own': 'a' })
      response.end(status === 204 ? undefined : 'hi')
    })
    assert.deepEqual([headers[':status'], code, headers['x-own']], [status, 0, 'a'])
  }
})
