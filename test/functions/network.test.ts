// Code of functions in the network: it reaches public addresses and the service's own, and nothing else.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { functionClient } from './function-client.ts'

/** Stands for a public address. */
const PUBLIC = '127.0.0.9'
/** Stands for a machine of the operator. */
const PRIVATE = '127.0.0.8'
product({ env: { ERGON_EGRESS_NETWORKS: PUBLIC } })
const { deploy, textAt } = functionClient(sharedErgon)

async function serve(t: TestContext, host: string, port = 0) {
  let hits = 0
  const server = createServer((request, response) => {
    hits++
    response.end(`${request.method} ${request.url} at ${host}`)
  }).listen(port, host)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, hits: () => hits }
}

/** Fetches the address that its caller sends. */
const FETCHER = `export default async (request) => {
  try {
    const answer = await fetch(await request.text())
    return new Response(answer.status + ' ' + await answer.text())
  } catch (error) {
    return new Response(String(error.cause ?? error))
  }
}`

test('a function fetches a public address', async (t) => {
  const there = await serve(t, PUBLIC)
  await deploy('fetcher', FETCHER)
  const [status, body] = await textAt('/fetcher', {
    method: 'POST',
    body: `http://${PUBLIC}:${there.port}/a?b=c`,
  })
  assert.deepEqual([status, body], [200, `200 GET /a?b=c at ${PUBLIC}`])
  const canary = await serve(t, PRIVATE)
  await textAt('/fetcher', {
    method: 'POST',
    body: `http://${PRIVATE}:${canary.port}/`,
  })
  assert.equal(canary.hits(), 0)
})
