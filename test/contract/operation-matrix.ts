// Every operation of the contract with every kind of caller: its status, the energy headers, who pays,
// and that header, ledger, receipt and usage say the same. Made from the contract's own tables: an
// operation without a row here fails.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { OPERATIONS, permits, type Operation } from '#contract/operations.ts'
import { ROUTES, type Route } from '#contract/routes.ts'
import type { ScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { bookFaults, chargeOf, joulesOf, milligramsOf, type ChargeRow } from '../books.ts'
import { energyHeaderFaults } from '../raw-http.ts'
import { METRICS_TOKEN } from './metrics-token.ts'
import { sharedErgon } from '../parts.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'

const CHAT = 'matrix-chat'
const EMBEDDING = 'matrix-embedding'
const SEALED_MAX_MS = 60_000

/** What an honest call of an operation looks like, and what differs from the rule. */
type Row = {
  readonly path: () => string
  readonly body?: object
  /** Bodies that must be refused with 400 and this `param`. */
  readonly badBodies?: readonly { readonly body: unknown; readonly param: string | null }[]
  /** A path that is another account's, and the code it gets. */
  readonly others?: { readonly path: () => string; readonly code: string }
  /** A path of what is nobody's, where the operation can be asked without a token. */
  readonly nobodys?: () => string
  /** A credential of its own kind, in place of an account's token. */
  readonly credential?: string
  /** Nothing of this account is remembered yet, or a proof is not sealed yet. */
  readonly statuses?: readonly number[]
}

const messages = [{ role: 'user', content: 'Hello' }]
const ROWS: Readonly<Record<string, Row>> = {
  'chat.create': {
    path: () => '/v1/chat/completions',
    body: { model: CHAT, messages },
    badBodies: [
      { body: { messages }, param: 'model' },
      { body: { model: CHAT }, param: 'messages' },
      {
        body: { model: CHAT, messages: [{ role: 'user', content: 7 }] },
        param: 'messages[0].content',
      },
      { body: { model: CHAT, messages, max_tokens: '7' }, param: 'max_tokens' },
      { body: [], param: null },
    ],
  },
  'completion.create': {
    path: () => '/v1/completions',
    body: { model: CHAT, prompt: 'Hello' },
    badBodies: [
      { body: { model: CHAT }, param: 'prompt' },
      { body: { model: CHAT, prompt: 'a', n: 0 }, param: 'n' },
    ],
  },
  'embedding.create': {
    path: () => '/v1/embeddings',
    body: { model: EMBEDDING, input: 'Hello' },
    badBodies: [
      { body: { model: EMBEDDING }, param: 'input' },
      { body: { model: EMBEDDING, input: '' }, param: 'input' },
      { body: { model: EMBEDDING, input: 'a', encoding_format: 'hex' }, param: 'encoding_format' },
    ],
  },
  'model.list': { path: () => '/v1/models' },
  'model.get': { path: () => `/v1/models/${CHAT}` },
  'presign.create': {
    path: () => '/v1/storage/presigned',
    body: { bucket: 'matrix', key: 'key' },
    badBodies: [
      { body: { bucket: 'matrix' }, param: 'key' },
      { body: { bucket: 'Not A Bucket', key: 'key' }, param: 'bucket' },
      { body: { bucket: 'matrix', key: 'a/../b' }, param: 'key' },
      { body: { bucket: 'matrix', key: 'key', method: 'DELETE' }, param: 'method' },
      { body: { bucket: 'matrix', key: 'key', expires_s: 604_801 }, param: 'expires_s' },
    ],
  },
  'usage.last': { path: () => '/v1/usage/last' },
  'usage.get': { path: () => '/v1/usage?group_by=model' },
  'receipt.get': {
    path: () => `/v1/receipts/${world.receipt}`,
    others: { path: () => `/v1/receipts/${world.othersReceipt}`, code: 'receipt_not_found' },
    nobodys: () => `/v1/receipts/${world.nobodysReceipt}`,
    statuses: [200, 202],
  },
  'receipt.keys': { path: () => '/.well-known/ergon/receipt-keys.json' },
  'receipt.checkpoint': { path: () => `/.well-known/ergon/logs/${world.log}/checkpoint` },
  'receipt.tile': { path: () => `/.well-known/ergon/logs/${world.log}/tile/${world.tile}` },
  'service.health': { path: () => '/healthz' },
  'service.ready': { path: () => '/readyz' },
  'service.metrics': { path: () => '/metrics', credential: METRICS_TOKEN },
}

/** What the tests of a table leave out: operations that answer over HTTP and have no row. */
const withoutRow = (operations: object, routes: readonly Route[], rows: object): string[] =>
  Object.keys(operations).filter(
    (name) => routes.some((route) => route.operation === name) && !(name in rows),
  )

type Caller = { readonly token: string; readonly account: string }
/** Everything that the rows need of the running product. */
const world = {
  receipt: '',
  othersReceipt: '',
  nobodysReceipt: '',
  log: '',
  tile: '',
}
let ergon: Ergon
let upstreams: ScriptedUpstream[] = []
let callers: Record<'owner' | 'other' | 'revoked' | 'depleted' | 'freeloader', Caller>

before(async () => {
  ergon = sharedErgon()
  upstreams = [
    await addUpstream(ergon, CHAT),
    await addUpstream(ergon, EMBEDDING, { embedding: true }),
  ]
  callers = {
    owner: { token: ergon.token, account: ergon.account },
    other: await caller('5000000000000'),
    revoked: await revokedCaller(),
    depleted: await depletedCaller(),
    freeloader: await caller(),
  }
  world.receipt = await receiptOfRequest(callers.owner)
  world.othersReceipt = await receiptOfRequest(callers.other)
  world.nobodysReceipt = await receiptOfRequest({})
  await sealed()
})
after(async () => {
  await Promise.all(upstreams.map((upstream) => upstream.close()))
})

async function caller(pusd?: string): Promise<Caller> {
  const { id: account } = await ergon.control<{ id: string }>('POST', '/accounts', { env: 'test' })
  if (pusd !== undefined) await ergon.control('POST', `/accounts/${account}/funds`, { pusd })
  const { token } = await mint(account)
  return { token, account }
}

const mint = (account: string) =>
  ergon.control<{ id: string; token: string }>('POST', '/tokens', { account, scope: 'read' })

async function revokedCaller(): Promise<Caller> {
  const { id, token } = await mint(ergon.account)
  await call('/v1/models', { token })
  await ergon.control('DELETE', `/tokens/${id}`)
  return { token, account: ergon.account }
}

/** An account that spent what it had, down to the last pico-dollar. */
async function depletedCaller(): Promise<Caller> {
  const made = await caller('100')
  for (let left = 100; left > 0; left--) {
    const { status } = await call('/v1/models', made)
    if (status === 402) return made
  }
  throw new Error('the balance does not run out')
}

async function receiptOfRequest(who: Caller | { token?: never }): Promise<string> {
  const answer = await call('/v1/models', who)
  return answer.headers.get('x-receipt-id') ?? ''
}

/** Waits until the log is sealed and names its parts. */
async function sealed(): Promise<void> {
  const deadline = performance.now() + SEALED_MAX_MS
  for (;;) {
    const answer = await call(`/v1/receipts/${world.receipt}`, {
      ...callers.owner,
      accept: 'application/json',
    })
    if (answer.status === 200) {
      const { checkpoint } = JSON.parse(answer.text) as { checkpoint: string }
      const [origin = '', size = '0'] = checkpoint.split('\n')
      world.log = origin
      world.tile = `0/000.p/${size}`
      return
    }
    if (performance.now() > deadline) throw new Error(`nothing is sealed: ${answer.text}`)
    await pause(100)
  }
}

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string }

async function call(
  path: string,
  options: { token?: string; body?: unknown; method?: string; accept?: string } = {},
): Promise<Answer> {
  const { token, body, accept } = options
  const answer = await fetch(ergon.baseUrl + path, {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accept === undefined ? {} : { accept }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** Headers and ledger say the same of an answer, and `payer` paid. */
async function assertCharged(
  answer: Answer,
  expected: { payer: string; operation: string; status?: number },
): Promise<ChargeRow> {
  const header = (name: string) => answer.headers.get(name)
  assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [])
  const charge = await chargeOf(ergon, header('x-receipt-id') ?? '')
  assert.equal(charge.status, expected.status ?? answer.status)
  assert.equal(charge.account, expected.payer)
  assert.equal(charge.operation, expected.operation)
  assert.equal(header('x-energy-joules'), joulesOf(charge))
  assert.equal(header('x-carbon-mg'), milligramsOf(charge))
  assert.equal(header('x-routed-to'), charge.routed_to)
  assert.equal(header('x-tier'), charge.tier)
  return charge
}

const NOBODY = { payer: 'nobody', operation: 'service.nobody' }
type Problem = { title: string; status: number; error: { code: string; param: string | null } }

/** A refusal: problem+json of this code, charged as expected. */
async function assertRefused(
  answer: Answer,
  [status, code]: readonly [number, string],
  expected: { payer: string; operation: string } = NOBODY,
): Promise<Problem> {
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/)
  const problem = JSON.parse(answer.text) as Problem
  assert.equal(problem.title, code)
  assert.equal(problem.error.code, code)
  await assertCharged(answer, expected)
  return problem
}

test('every operation that has a route has a row, and a planted one is missed', () => {
  assert.deepEqual(withoutRow(OPERATIONS, ROUTES, ROWS), [])
  const planted = { ...OPERATIONS, 'planted.create': OPERATIONS['chat.create'] }
  const routes = [...ROUTES, { method: 'POST', path: '/v1/planted', operation: 'planted.create' }]
  assert.deepEqual(withoutRow(planted, routes as Route[], ROWS), ['planted.create'])
  assert.deepEqual(
    Object.keys(ROWS).filter((name) => !(name in OPERATIONS)),
    [],
  )
})

test('every operation but that of nobody has a route, and every route an operation', () => {
  const routed = new Set<string>(ROUTES.map((route) => route.operation))
  const all = Object.keys(OPERATIONS)
  assert.deepEqual(
    // Those of the S3 door are bound by method and subresource.
    all.filter((name) => !routed.has(name) && !name.startsWith('storage.')),
    ['service.nobody'],
  )
  assert.deepEqual(
    [...routed].filter((name) => !all.includes(name)),
    [],
  )
})

for (const route of ROUTES) {
  const row = ROWS[route.operation]
  if (row === undefined) continue
  const operation: Operation = OPERATIONS[route.operation]
  describe(`${route.operation} (${route.method} ${route.path})`, { concurrency: true }, () => {
    if (operation.scope === null) publicOperation(route, row)
    else accountOperation(route, row, operation)
    test('refuses another method with 405 and names the right one', async () => {
      const method = route.method === 'GET' ? 'POST' : 'GET'
      const answer = await call(row.path(), {
        method,
        ...(row.credential === undefined ? {} : { token: row.credential }),
      })
      await assertRefused(answer, [405, 'method_not_allowed'])
      assert.match(answer.headers.get('allow') ?? '', new RegExp(`\\b${route.method}\\b`))
    })
  })
}

function publicOperation(route: Route, row: Row): void {
  const honest = row.credential === undefined ? {} : { token: row.credential }
  test('answers without a token, at the cost of nobody', async () => {
    const answer = await call(row.path(), honest)
    assert.equal(answer.status, 200, answer.text)
    await assertCharged(answer, NOBODY)
  })
  if (row.credential !== undefined) {
    test('refuses a caller without its credential', async () => {
      await assertRefused(await call(row.path()), [401, 'token_unknown'])
    })
    test("refuses an account's token", async () => {
      await assertRefused(await call(row.path(), callers.owner), [401, 'token_unknown'])
    })
  } else
    test('does not mind a token of whatever kind', async () => {
      for (const token of ['nonsense', callers.revoked.token, callers.owner.token]) {
        const answer = await call(row.path(), { token })
        assert.equal(answer.status, 200)
        await assertCharged(answer, NOBODY)
      }
    })
}

function accountOperation(route: Route, row: Row, operation: Operation): void {
  const name = route.operation
  const honest = () => (row.body === undefined ? {} : { body: row.body })

  test('answers its account, and header, ledger and receipt agree', async () => {
    const answer = await call(row.path(), { ...callers.owner, ...honest() })
    assert.ok((row.statuses ?? [200]).includes(answer.status), answer.text)
    const charge = await assertCharged(answer, { payer: callers.owner.account, operation: name })
    assert.ok(BigInt(charge.energy_nj) > 0n)
    assert.ok(BigInt(charge.charge_pusd) > 0n)
    const preview = operation.stage === 'preview' ? 'true' : null
    assert.equal(answer.headers.get('x-api-preview'), preview)
    const { usage } = JSON.parse(answer.text.startsWith('{') ? answer.text : '{}') as {
      usage?: { energy_j: number }
    }
    if (usage !== undefined)
      assert.ok(answer.text.includes(`"energy_j":${answer.headers.get('x-energy-joules')},`))
    await assertReceipt(charge)
  })

  test('refuses a caller without a token', async () => {
    await assertRefused(await call(row.path(), honest()), [401, 'token_missing'])
  })
  test('refuses a token that nobody minted', async () => {
    for (const token of [
      'nonsense',
      `${callers.owner.token.slice(0, -1)}~`,
      `svc_${'a'.repeat(38)}`,
    ])
      await assertRefused(await call(row.path(), { token, ...honest() }), [401, 'token_unknown'])
  })
  test('refuses a revoked token', async () => {
    const answer = await call(row.path(), { ...callers.revoked, ...honest() })
    await assertRefused(answer, [401, 'token_revoked'])
  })
  test('refuses an account whose balance is empty', async () => {
    const answer = await call(row.path(), { ...callers.depleted, ...honest() })
    await assertRefused(answer, [402, 'balance_depleted'])
    assert.equal(answer.headers.get('x-should-retry'), 'false')
  })
  test('refuses an account that has used its free tier', async () => {
    const answer = await call(row.path(), { ...callers.freeloader, ...honest() })
    await assertRefused(answer, [429, 'free_tier_exceeded'])
    assert.equal(answer.headers.get('x-should-retry'), 'false')
  })

  for (const held of ['read', 'deploy', 'billing-admin'] as const) {
    const allowed = permits(held, operation.scope)
    test(`${allowed ? 'accepts' : 'refuses'} a token of scope ${held}`, async () => {
      const { account } = callers.owner
      const minted = await ergon.control<{ token: string }>('POST', '/tokens', {
        account,
        scope: held,
      })
      const answer = await call(row.path(), { ...minted, ...honest() })
      if (!allowed) await assertRefused(answer, [403, 'scope_missing'])
      // A new token has no last request; all else answers as it does to the first one.
      else if (name === 'usage.last')
        await assertRefused(answer, [404, 'not_found'], { payer: account, operation: name })
      else assert.ok((row.statuses ?? [200]).includes(answer.status), answer.text)
    })
  }

  if (operation.tokenOptional === true)
    test("answers what is nobody's without a token, and with any", async () => {
      const path = row.nobodys?.() ?? ''
      const answer = await call(path)
      assert.ok((row.statuses ?? [200]).includes(answer.status), answer.text)
      await assertCharged(answer, NOBODY)
      const theirs = await call(path, callers.other)
      assert.ok((row.statuses ?? [200]).includes(theirs.status), theirs.text)
      await assertCharged(theirs, { payer: callers.other.account, operation: name })
    })

  for (const { body, param } of row.badBodies ?? [])
    test(`refuses ${JSON.stringify(body)} and names ${param ?? 'no field'}`, async () => {
      const expected = { payer: callers.owner.account, operation: name }
      const answer = await call(row.path(), { ...callers.owner, body })
      const problem = await assertRefused(answer, [400, 'invalid_request'], expected)
      assert.equal(problem.error.param, param)
    })
  if (route.method === 'POST') test('has bad bodies in its row', () => assert.ok(row.badBodies))

  const { others } = row
  if (others !== undefined)
    test("does not find another account's", async () => {
      const expected = { payer: callers.owner.account, operation: name }
      const answer = await call(others.path(), callers.owner)
      await assertRefused(answer, [404, others.code], expected)
    })

  if (operation.remembered)
    test('is what GET /v1/usage/last tells of afterwards', async () => {
      const { token } = await mint(callers.owner.account)
      const answer = await call(row.path(), { token, ...honest() })
      const charge = await chargeOf(ergon, answer.headers.get('x-receipt-id') ?? '')
      const last = await call('/v1/usage/last', { token })
      assert.equal(last.status, 200, last.text)
      assert.ok(last.text.includes(`"energy_j":${joulesOf(charge)},`), last.text)
      assert.ok(last.text.includes(`"carbon_mg":${milligramsOf(charge)},`), last.text)
      const { request_id: request } = JSON.parse(last.text) as { request_id: string }
      assert.equal(request, charge.request)
    })
}

/** The signed receipt of a charge holds the very bytes of the ledger's row. */
async function assertReceipt(charge: ChargeRow): Promise<void> {
  const deadline = performance.now() + SEALED_MAX_MS
  for (;;) {
    const answer = await call(`/v1/receipts/${charge.id}`, {
      ...callers.owner,
      accept: 'application/json',
    })
    if (answer.status === 200) {
      const receipt = JSON.parse(answer.text) as { id: string; charge: ChargeRow }
      assert.equal(receipt.id, charge.id)
      assert.deepEqual(receipt.charge, charge)
      return
    }
    assert.equal(answer.status, 202, answer.text)
    if (performance.now() > deadline) throw new Error(`${charge.id} is not sealed`)
    await pause(100)
  }
}

test('an unknown path is 404 for whoever asks', async () => {
  for (const token of [undefined, callers.owner.token])
    await assertRefused(await call('/v1/nowhere', token === undefined ? {} : { token }), [
      404,
      'not_found',
    ])
})

test('the books add up after all of it', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
})
