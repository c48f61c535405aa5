import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { test, type TestContext } from 'node:test'
import { apiGet } from './client.ts'
import { EXIT } from './output.ts'

async function serve(t: TestContext, answer: RequestListener): Promise<{ baseUrl: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return { baseUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}` }
}

test('apiGet() says so when an answer breaks off after its head', async (t) => {
  const options = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('four', () => response.socket?.resetAndDestroy())
  })
  await assert.rejects(apiGet(options, '/v1/usage', { public: true }), {
    message: /^Could not reach .*\/v1\/usage: /,
  })
})

/** A tile of the log is no text. */
const BYTES = Buffer.from([0x61, 0xff])

test('apiGet() gives the status, the text and its bytes, and what a refusal says', async (t) => {
  const options = await serve(t, ({ url }, response) => {
    if (url === '/good') return void response.end(BYTES)
    response.writeHead(402, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ detail: 'No money', instance: 'req_1' }))
  })
  const { status, text, bytes, headers } = await apiGet(options, '/good', { public: true })
  assert.deepEqual([status, text, bytes], [200, 'a\uFFFD', BYTES])
  assert.equal(headers['content-length'], '2')
  await assert.rejects(apiGet(options, '/bad', { public: true }), {
    message: 'No money (req_1)',
    exitCode: EXIT.payment,
  })
})

test('apiGet() fails with the code of payment when free joules are used up, not when too much is asked at once', async (t) => {
  const options = await serve(t, ({ url }, response) => {
    response.writeHead(429, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ title: url?.slice(1), detail: 'No' }))
  })
  const exitCodes = { free_tier_exceeded: EXIT.payment, too_many_requests: EXIT.failed }
  for (const [code, exitCode] of Object.entries(exitCodes))
    await assert.rejects(apiGet(options, `/${code}`, { public: true }), { exitCode })
})
