// The energy budget of a token: never charged above it, on several gateways, by many clients at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  newTokenReply,
  rotatedTokenReply,
  tokenReply,
  type NewTokenReply,
} from '#contract/identity/tokens.ts'
import { untilHeard } from '../patient-fetch.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { addUpstream } from '../upstreams.ts'

product(PLAIN, { ERGON_GATEWAYS: '3' })

const CHAT = 'token-limits'
const CLIENTS = 64
const BUDGET_NJ = 10_000_000_000n
const NJ_PER_J = 1e9
/** Less than an answer takes may be left. */
const REST_NJ = 2_000_000_000n

const call = async (token: string, path: string, method = 'GET', body?: object) => {
  const answer = await fetch(`${sharedErgon().baseUrl}${path}`, {
    method,
    // The kernel chooses the gateway of each connection.
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
}

const chat = (token: string) =>
  untilHeard(
    () =>
      call(token, '/v1/chat/completions', 'POST', {
        model: CHAT,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    ({ status }) => status !== 503,
  )

/** Asks until a refusal, which is returned. */
async function client(token: string) {
  for (let nth = 0; nth < 200; nth++) {
    const answer = await chat(token)
    if (answer.status !== 200) return answer
  }
  throw new Error('it is never refused')
}

async function owner(): Promise<string> {
  const { id: account } = await sharedErgon().control('account.create', { env: 'test' })
  await sharedErgon().control('funds.add', { account, pusd: '1000000000000' })
  return (await sharedErgon().control('token.create', { account, scope: 'billing-admin' })).token
}

const make = async (token: string, body: object): Promise<NewTokenReply> => {
  const { status, json } = await call(token, '/v1/tokens', 'POST', { name: 'ci', ...body })
  assert.equal(status, 201, JSON.stringify(json))
  return newTokenReply.parse(json)
}

const change = async (token: string, id: string, body: object) =>
  tokenReply.parse((await call(token, `/v1/tokens/${id}`, 'PATCH', body)).json)

/** The sum of the charges of tokens, once all is posted. */
async function chargedNj(ownerToken: string, ids: readonly string[]): Promise<bigint> {
  await call(ownerToken, '/v1/usage')
  const [row] = await sharedErgon().sql<{ nj: string }>(
    'select coalesce(sum(energy_nj), 0)::text as nj from charges where token = any ($1)',
    [ids],
  )
  return BigInt(row?.nj ?? '0')
}

test('a token is never charged above its budget of the day', { timeout: 120_000 }, async () => {
  const ergon = sharedErgon()
  const upstream = await addUpstream(ergon, CHAT, { nj_per_token: '60000000' })
  const admin = await owner()
  const made = await make(admin, { energy_budget: '10 J/day' })
  assert.deepEqual([made.energy_budget, made.energy_budget_used_j], ['10 J/day', 0])
  const refusals = await Promise.all(Array.from({ length: CLIENTS }, () => client(made.token)))
  for (const { status, json } of refusals) {
    assert.deepEqual([status, json['title'], json['budget']], [429, 'budget_exhausted', made.id])
    assert.match(String(json['renewed_at']), /T00:00:00\.000Z$/)
  }
  const charged = await chargedNj(admin, [made.id])
  assert.ok(charged <= BUDGET_NJ && charged > BUDGET_NJ - REST_NJ, `${charged}`)
  assert.equal((await chat(admin)).status, 200, 'another token of the account has no part in it')

  const raised = await change(admin, made.id, { energy_budget: '11 J/day' })
  assert.equal(raised.energy_budget_used_j, Number(charged) / NJ_PER_J)
  assert.equal((await chat(made.token)).status, 200, 'a raised budget gives room at once')
  const { json } = await call(admin, `/v1/tokens/${made.id}/rotate`, 'POST', { overlap_s: 60 })
  const next = rotatedTokenReply.parse(json)
  await Promise.all([client(made.token), client(next.token)])
  const both = await chargedNj(admin, [made.id, next.id])
  assert.ok(both <= 11_000_000_000n, `a rotation renews nothing: ${both}`)

  await revokesAtAUsedBudget(admin, next)

  const free = await change(admin, next.id, { energy_budget: null })
  assert.deepEqual([free.energy_budget, free.energy_budget_used_j], [null, null])
  for (const token of [made.token, next.token]) assert.equal((await chat(token)).status, 200)
  const events = await ergon.sql(
    `select data->>'resource_id' as id from events where type = 'energy_budget.warning' and data->>'resource_id' = $1`,
    [made.id],
  )
  assert.ok(events.length > 0, 'four fifths are an event')
  await ergon.control('model.remove', { model: CHAT })
  await upstream.close()
})

/** A leaked token, whose budget strangers have used up, finds itself in the list and ends itself. */
async function revokesAtAUsedBudget(admin: string, { token, id }: NewTokenReply) {
  const rotate = await call(admin, `/v1/tokens/${id}/rotate`, 'POST', { overlap_s: 60 })
  const leaked = rotatedTokenReply.parse(rotate.json)
  const usage = await call(leaked.token, '/v1/usage')
  assert.deepEqual([usage.status, usage.json['title']], [429, 'budget_exhausted'])
  const list = await call(leaked.token, '/v1/tokens')
  const own = (list.json['data'] as { id: string; current: boolean }[]).find(
    ({ current }) => current,
  )
  assert.equal(own?.id, leaked.id, JSON.stringify(list))
  const ended = await call(leaked.token, `/v1/tokens/${own?.id}`, 'DELETE')
  assert.equal(ended.status, 200, JSON.stringify(ended.json))
  assert.equal((await call(leaked.token, '/v1/tokens')).status, 401)
  assert.equal((await chat(token)).status, 429, 'the budget stays used')
}

test('a budget of a token counts what begins after it was set, and a change is in the audit log', async () => {
  const admin = await owner()
  const made = await make(admin, { requests_per_minute: 1000 })
  await call(made.token, '/v1/models')
  const limited = await change(admin, made.id, { energy_budget: '1 kJ/day' })
  assert.deepEqual(
    [limited.requests_per_minute, limited.energy_budget, limited.energy_budget_used_j],
    [1000, '1 kJ/day', 0],
  )
  await call(made.token, '/v1/models')
  await call(made.token, '/v1/usage')
  const list = await call(admin, '/v1/tokens')
  const [listed] = (list.json['data'] as { energy_budget_used_j: number }[]).slice(0, 1)
  assert.ok(listed !== undefined && listed.energy_budget_used_j > 0, JSON.stringify(listed))
  const audit = await call(admin, `/v1/audit?action=token.update&target=${made.id}`)
  const [entry] = audit.json['data'] as { details: object }[]
  assert.deepEqual(entry?.details, { energy_budget: '1 kJ/day' })
})

test('changes of budgets wait for ticks of their account, and neither stalls the other', async () => {
  const admin = await owner()
  const tokens = [await make(admin, {}), await make(admin, {}), await make(admin, {})]
  const before = await deadlocks()
  let isDone = false
  // Each is charged, so that ticks change the row of the account.
  const charged = Array.from({ length: 8 }, async () => {
    while (!isDone) await call(admin, '/v1/models')
  })
  const changes = tokens.map(async ({ id }) => {
    for (let nth = 0; nth < 8; nth++) {
      const body = { energy_budget: `${100 + nth} J/day` }
      assert.equal((await call(admin, `/v1/tokens/${id}`, 'PATCH', body)).status, 200)
    }
  })
  await Promise.all(changes).finally(() => (isDone = true))
  await Promise.all(charged)
  assert.equal(await deadlocks(), before)
})

/** The deadlocks that the server has ended; one is counted within a second. */
async function deadlocks(): Promise<number> {
  await pause(1100)
  const [row] = await sharedErgon().sql<{ n: string }>(
    'select deadlocks::text as n from pg_stat_database where datname = current_database()',
    [],
  )
  return Number(row?.n)
}

test('limits of a token that are none are refused, and change nothing', async () => {
  const admin = await owner()
  const made = await make(admin, {})
  for (const body of [
    {},
    { energy_budget: '5 kJ' },
    { energy_budget: '1 J/day' },
    { requests_per_minute: 0 },
    { requests_per_minute: 1.5 },
    { rate: 5 },
  ]) {
    const { status, json } = await call(admin, `/v1/tokens/${made.id}`, 'PATCH', body)
    assert.deepEqual([status, json['title']], [400, 'invalid_request'], JSON.stringify(body))
  }
  const path = `/v1/tokens/${made.id}`
  const limit = { requests_per_minute: 5 }
  assert.equal((await call(made.token, path, 'PATCH', limit)).json['title'], 'scope_missing')
  const chief = await make(admin, { scope: 'billing-admin', energy_budget: '1 kJ/day' })
  for (const more of [limit, { energy_budget: null }]) {
    const own = await call(chief.token, `/v1/tokens/${chief.id}`, 'PATCH', more)
    assert.deepEqual([own.status, own.json['title']], [403, 'scope_missing'])
  }
  const another = await call(chief.token, path, 'PATCH', limit)
  assert.deepEqual([another.status, another.json['title']], [403, 'scope_missing'])
  await change(admin, chief.id, { energy_budget: null })
  const others = await call(await owner(), path, 'PATCH', limit)
  assert.deepEqual([others.status, others.json['title']], [404, 'token_not_found'])
  const { json } = await call(admin, '/v1/tokens')
  const [, same] = json['data'] as { requests_per_minute: null }[]
  assert.equal(same?.requests_per_minute, null)
})

test('a token of scope billing-admin with limits gets rid of them in no way', async () => {
  const admin = await owner()
  const limits = { energy_budget: '1 kJ/day', requests_per_minute: 600, expires_days: 2 }
  const chief = await make(admin, { scope: 'billing-admin', ...limits })
  const child = await make(chief.token, { scope: 'billing-admin', expires_days: 90 })
  assert.deepEqual([child.energy_budget, child.requests_per_minute], ['1 kJ/day', 600])
  assert.equal(child.expires_at, chief.expires_at)
  const [shared] = await sharedErgon().sql(
    'select a.budget = b.budget and a.rate_key = b.id as is_same from tokens a, tokens b where a.id = $1 and b.id = $2',
    [child.id, chief.id],
  )
  assert.deepEqual(shared, { is_same: true })
  const higher = { name: 'ci', scope: 'read', energy_budget: '2 kJ/day' }
  const free = await make(admin, { scope: 'billing-admin' })
  const [owned] = (await call(admin, '/v1/members')).json['data'] as { id: string }[]
  const ways = [
    ['/v1/tokens', higher],
    [`/v1/tokens/${free.id}/rotate`, {}],
    ['/v1/members', { name: 'Ada', role: 'admin' }],
    [`/v1/members/${owned?.id}/invitation`, {}],
  ] as const
  for (const [path, body] of ways) {
    const { status, json } = await call(chief.token, path, 'POST', body)
    assert.deepEqual([path, status], [path, 403])
    assert.match(String(json['title']), /^(scope_missing|not_own_token)$/, path)
  }
  const own = await call(chief.token, `/v1/tokens/${chief.id}/rotate`, 'POST', {})
  const { energy_budget: kept } = rotatedTokenReply.parse(own.json)
  assert.equal(kept, '1 kJ/day')
})
