// Bodies of accounts that cannot pay: nobody pays for their reading.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { depleted } from '#charging/faults.ts'
import { FREE_PAYER } from '#charging/gateway.fixture.ts'
import { OpenSpend } from '#charging/open-spend.ts'
import { startTestHttp } from './test-server.fixture.ts'

const KIB = 1024

test('a long body of an account that cannot pay is refused before it is in memory', async (t) => {
  t.mock.method(OpenSpend.prototype, 'admit', () => {
    throw depleted({ ...FREE_PAYER, funded: true })
  })
  await using http = await startTestHttp(
    { '/one': () => ({ kind: 'known', status: 200, body: () => ({}) }) },
    { operation: 'function.update', bodyMemoryBytes: 64 * KIB },
  )
  /** The status, and whether the client was asked for the body. */
  const post = (body: string, headers: Record<string, string> = {}) =>
    new Promise((resolve, reject) => {
      let isAsked = false
      const { port } = http
      const posted = request({ port, path: '/one', method: 'POST', headers, agent: false })
      const send = () => posted.end(body)
      posted.on('continue', () => {
        isAsked = true
        send()
      })
      posted.on('response', (response) => {
        resolve([response.statusCode, isAsked])
        response.resume()
        posted.destroy()
      })
      posted.on('error', reject)
      if (headers['expect'] === undefined) send()
      else posted.flushHeaders()
    })
  const suspension = '{"suspended":true}'
  const long = JSON.stringify({ suspended: true, note: 'x'.repeat(100 * KIB) })
  const expecting = (body: string) => ({
    expect: '100-continue',
    'content-length': String(body.length),
  })
  assert.deepEqual(await post(suspension), [200, false])
  assert.deepEqual(await post(suspension, expecting(suspension)), [200, true])
  assert.deepEqual(await post('{"suspended":true,"budget":1}'), [402, false])
  assert.deepEqual(await post(long), [402, false])
  assert.deepEqual(await post(long, { 'transfer-encoding': 'chunked' }), [402, false])
  assert.deepEqual(await post(long, expecting(long)), [402, false])
})
