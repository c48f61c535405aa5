// One probe against a server that answers what the test says: what is a failure, and what says nothing of the service.
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer as bytesOf } from 'node:stream/consumers'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import type { ProbedComponent } from '#contract/status/probe-components.ts'
import { billionths, createApi } from './api.ts'
import { probed } from './probe.ts'

const FIGURES = {
  'x-energy-joules': '0.002000001',
  'x-carbon-mg': '0.0005',
  'x-energy-method': 'model; band=40%',
  'x-routed-to': 'ergon/local/cpu-x64',
  'x-receipt-id': 'rcpt_1',
}
const HELP = { account: 'acct_1', bucket: 'probe-1', signal: new AbortController().signal }
// Nothing that is asked here reads the state.
const state = { query: () => Promise.reject(new Error('no state here')) }

async function resultOf(id: ProbedComponent, listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const api = createApi({ host: '127.0.0.1', port }, 'svc_test')
  try {
    return await probed(id, { ...HELP, api, state }, systemClock, 1)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('the figures of all requests of a probe are added up', async () => {
  let stored = Buffer.alloc(0)
  const asked: string[] = []
  const { row } = await resultOf('storage', (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const answer = (status: number, body: Buffer | string = '') =>
      response.writeHead(status, FIGURES).end(body)
    // The bucket is not there yet.
    if (asked.length === 1) return void request.resume().once('end', () => answer(404))
    if (request.method === 'GET') return void answer(200, stored)
    void bytesOf(request).then((body) => {
      if (body.length > 0) stored = body
      answer(request.method === 'DELETE' ? 204 : 200)
    })
  })
  const { duration_ms: durationMs, ...rest } = row
  assert.equal(typeof durationMs, 'number')
  assert.deepEqual(rest, {
    state: 'ok',
    energy_nj: '6000003',
    carbon_pg: '1500000',
    method: 'model',
    band_pct: 40,
    routed_to: 'ergon/local/cpu-x64',
    receipt: 'rcpt_1',
    receipts: ['2000001', '2000001', '2000001'].map((nj) => ({ id: 'rcpt_1', energy_nj: nj })),
  })
  assert.deepEqual(asked, [
    'PUT /probe-1/probe',
    'PUT /probe-1',
    'PUT /probe-1/probe',
    'GET /probe-1/probe',
    'DELETE /probe-1/probe',
  ])
})

test('other bytes than those that were stored are a failure', async () => {
  const { row } = await resultOf('storage', (request, response) => {
    void bytesOf(request).then(() => response.writeHead(200, FIGURES).end('other'))
  })
  assert.equal(row.state, 'failed')
  assert.match(row.reason ?? '', /other bytes/)
})

test('a failure counts when the next try fails too', async () => {
  let left = 1
  const failing: RequestListener = (_, response) =>
    left-- > 0 ? response.writeHead(503).end() : response.writeHead(200, FIGURES).end('{}')
  assert.equal((await resultOf('ledger', failing)).row.state, 'ok')
  left = 2
  const { row } = await resultOf('ledger', failing)
  assert.deepEqual(row, {
    state: 'failed',
    reason: 'GET /v1/balance was answered with 503',
  })
})

test('an answer for a reason of the asker says nothing of the service; 401 asks for another token', async () => {
  const refusing =
    (status: number, code: string): RequestListener =>
    (_, response) =>
      response.writeHead(status).end(JSON.stringify({ code }))
  const depleted = await resultOf('ledger', refusing(402, 'balance_depleted'))
  assert.deepEqual(depleted, {
    row: {
      state: 'not_probed',
      reason: 'GET /v1/balance was answered with 402 balance_depleted',
    },
    isStranger: false,
  })
  const revoked = await resultOf('ledger', refusing(401, 'token_unknown'))
  assert.equal(revoked.isStranger, true)
})

test('a connection that is cut is a failure', async () => {
  const { row } = await resultOf('api', (request) => void request.socket.destroy())
  assert.equal(row.state, 'failed')
})

test('decimals of the headers are whole numbers', () => {
  assert.deepEqual(
    ['0.358035898', '12', '0.5', '', 'none'].map((text) => billionths(text)),
    [358_035_898n, 12_000_000_000n, 500_000_000n, 0n, 0n],
  )
})
