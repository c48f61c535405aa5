// "An old token is revoked at the next request": on every gateway, from the moment that the revocation
// has answered. Two gateways share one port, so that kept answers of both are asked.
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { untilHeard } from '../patient-fetch.ts'
import type { Ergon } from '../start-ergon.ts'
import { PLAIN, TWO_GATEWAYS } from '../settings.ts'

product(PLAIN, TWO_GATEWAYS)

const CONNECTIONS = 12
const ROUNDS = process.env['ERGON_LONG'] === '1' ? 15 : 8

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

/** Status of GET /v1/models over one kept connection, once the gateway has heard from the state. */
const ask = (agent: Agent, token: string): Promise<number> =>
  untilHeard(
    () => askOnce(agent, token),
    (status) => status !== 503,
  )

function askOnce(agent: Agent, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      `${ergon.baseUrl}/v1/models`,
      { agent, headers: { authorization: `Bearer ${token}` } },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
      .on('error', reject)
      .end()
  })
}

test('a revoked token is refused at the next request on every gateway', async () => {
  // Each agent keeps one connection, and the kernel spreads connections over both gateways.
  const agents = Array.from(
    { length: CONNECTIONS },
    () => new Agent({ keepAlive: true, maxSockets: 1 }),
  )
  const askAll = (token: string) => Promise.all(agents.map((agent) => ask(agent, token)))
  for (let round = 0; round < ROUNDS; round++) {
    const minted = await ergon.control('token.create', { scope: 'read' })
    const before = await askAll(minted.token)
    assert.deepEqual(new Set(before), new Set([200]), 'a fresh token is honoured everywhere')
    await ergon.control('token.revoke', { token: minted.id })
    const after = await askAll(minted.token)
    assert.deepEqual(
      new Set(after),
      new Set([401]),
      `round ${round}: honoured after its revocation`,
    )
  }
  const served = await ergon.sql<{ process: string }>(
    `select distinct s.process from charges c join sessions s on s.id = c.session
     where c.operation = 'model.list' and s.closed_at is null`,
  )
  assert.equal(served.length, 2, 'both gateways were asked')
  for (const agent of agents) agent.destroy()
})

test('the checker is red when a gateway does not hear of revocations', async () => {
  // The planted fault: the token is marked revoked behind the sessions' back, as a mere UPDATE would.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const minted = await ergon.control('token.create', { scope: 'read' })
  assert.equal(await ask(agent, minted.token), 200)
  await ergon.sql('update tokens set revoked_at = now() where id = $1', [minted.id])
  assert.equal(await ask(agent, minted.token), 200, 'what was kept is still believed')
  agent.destroy()
})

test('an expired token is refused, kept or not', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const minted = await ergon.control('token.create', { scope: 'read', expires_days: 1 })
  await ergon.sql("update tokens set expires_at = now() + interval '700 ms' where id = $1", [
    minted.id,
  ])
  assert.equal(await ask(agent, minted.token), 200)
  await new Promise((resolve) => setTimeout(resolve, 800))
  assert.equal(await ask(agent, minted.token), 401)
  const headers = { authorization: `Bearer ${minted.token}` }
  const refusal = await fetch(`${ergon.baseUrl}/v1/models`, { headers })
  const { error } = (await refusal.json()) as { error: { code: string } }
  assert.equal(error.code, 'token_expired')
  agent.destroy()
})
