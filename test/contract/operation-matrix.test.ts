// Every operation of the JSON API with every kind of caller: its status, energy headers and payer, and equal figures
// in header, ledger, receipt and usage. Made from the contract's own tables: an operation without a row in
// matrix-rows.ts fails. The operations of S3 are in storage-scopes.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { permits, type Operation } from '#contract/operation.ts'
import { OPERATIONS } from '#contract/operations.ts'
import { ROUTES, UNSERVED_ROUTES, type Route } from '#contract/routes.ts'
import { bookFaults, chargeOf, joulesOf, milligramsOf } from '../books.ts'
import { openSpoilingProxy, SPOILS } from '../spoiling-proxy.ts'
import {
  assertCharged,
  assertOfNobody,
  assertReceipt,
  assertRefused,
  assertShared,
} from './matrix-asserts.ts'
import type { Row } from './matrix-row.ts'
import { ROWS } from './matrix-rows.ts'
import { call, callers, closeMatrix, ergon, mint, openMatrix, type Answer } from './matrix-world.ts'
import { product } from '../product.ts'
import { METERED } from '../settings.ts'

product(METERED)

before(openMatrix)
after(closeMatrix)

/** Operations that answer over HTTP and have no row in a table of tests. */
const withoutRow = (operations: object, routes: readonly Route[], rows: object): string[] =>
  Object.keys(operations).filter(
    (name) => routes.some((route) => route.operation === name) && !(name in rows),
  )

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

test('an operation has a route, or says that it has none, and every route has an operation', () => {
  const routed = new Set<string>(ROUTES.map((route) => route.operation))
  const unrouted = Object.entries<Operation>(OPERATIONS).filter(([name]) => !routed.has(name))
  for (const [name, operation] of unrouted) assert.equal(operation.unrouted, true, name)
  for (const name of routed) assert.ok(Object.hasOwn(OPERATIONS, name), name)
})

test('an account that cannot pay can delete what it has, and stop what runs', () => {
  const refused = ROUTES.filter(({ method, operation }) => {
    const { onPortal, answeredUnpaid }: Operation = OPERATIONS[operation]
    const isLess = method === 'DELETE' || operation.endsWith('.suspend')
    return isLess && onPortal !== true && answeredUnpaid !== true
  })
  assert.deepEqual(refused, [])
})

for (const route of ROUTES) {
  const row = ROWS[route.operation]
  if (row === undefined) continue
  const operation: Operation = OPERATIONS[route.operation]
  describe(
    `${route.operation} (${route.method} ${route.path})`,
    { concurrency: row.isOneByOne !== true },
    () => {
      if (operation.onPortal === true) portalOperation(route, row)
      else if (operation.scope === null) publicOperation(route, row)
      else accountOperation(route, row, operation)
      test('refuses another method with 405 and names the right one', async () => {
        const answer = await call(row.path(), {
          method: otherMethod(route),
          ...(row.credential === undefined ? {} : { token: row.credential }),
        })
        await assertRefused(answer, [405, 'method_not_allowed'])
        assert.match(answer.headers.get('allow') ?? '', new RegExp(`\\b${route.method}\\b`))
      })
    },
  )
}

const callAs = (route: Route, path: string, options: Parameters<typeof call>[1] = {}) =>
  call(path, { method: route.method, ...options })

/** A method that no route of the path has: one with a parameter may match the path of another. */
const otherMethod = ({ path }: Route): string => {
  const matches = (other: string) =>
    other === path || new RegExp(`^${other.replaceAll(/:\w+/g, '[^/:]+')}$`).test(path)
  const served: readonly string[] = ROUTES.filter((one) => matches(one.path)).map(
    ({ method }) => method,
  )
  return ['GET', 'POST', 'PUT'].find((method) => !served.includes(method)) ?? 'PATCH'
}

function portalOperation(route: Route, row: Row): void {
  test('is refused at the API, to whoever asks, at the cost of nobody', async () => {
    for (const who of [{}, { token: 'nonsense' }, callers.owner])
      await assertRefused(await callAs(route, row.path(), who), [421, 'portal_only'])
  })
}

function publicOperation(route: Route, row: Row): void {
  const body = row.body === undefined ? {} : { body: row.body }
  const honest = { ...body, ...(row.credential === undefined ? {} : { token: row.credential }) }
  test('answers without a token, at the cost of nobody', async () => {
    const answer = await callAs(route, row.path(), honest)
    assert.ok((row.statuses ?? [200]).includes(answer.status), answer.text)
    assertOfNobody(answer)
  })
  if (row.credential !== undefined) {
    test('refuses a caller without its credential', async () => {
      await assertRefused(await callAs(route, row.path()), [401, 'token_unknown'])
    })
    test("refuses an account's token", async () => {
      await assertRefused(await callAs(route, row.path(), callers.owner), [401, 'token_unknown'])
    })
  } else
    test('does not mind a token of whatever kind', async () => {
      for (const token of ['nonsense', callers.revoked.token, callers.owner.token]) {
        const answer = await callAs(route, row.path(), { token, ...body })
        assert.ok((row.statuses ?? [200]).includes(answer.status), answer.text)
        assertOfNobody(answer)
      }
    })
}

/** The honest call, asked `through` some address, is answered, charged and sealed. */
async function assertAnswers(route: Route, row: Row, through?: string): Promise<void> {
  const answer = await callAs(route, row.path(), {
    ...callers.owner,
    ...bodyOf(row),
    ...(through === undefined ? {} : { through }),
  })
  assert.ok((row.statuses ?? [200]).includes(answer.status), answer.text)
  const expected = { payer: callers.owner.account, operation: route.operation }
  if (row.isStreamed === true) {
    const { account, operation } = await chargeOf(ergon, answer.headers.get('x-receipt-id') ?? '')
    return assert.deepEqual({ payer: account, operation }, expected)
  }
  const charge = await assertCharged(answer, expected)
  assert.ok(BigInt(charge.energy_nj) > 0n)
  assert.ok(BigInt(charge.charge_pusd) > 0n)
  const preview = OPERATIONS[route.operation].stage === 'preview' ? 'true' : null
  assert.equal(answer.headers.get('x-api-preview'), preview)
  const { usage } = JSON.parse(answer.text.startsWith('{') ? answer.text : '{}') as {
    usage?: { energy_j: number }
  }
  if (usage !== undefined)
    assert.ok(answer.text.includes(`"energy_j":${answer.headers.get('x-energy-joules')},`))
  await assertReceipt(charge)
  const { scope } = OPERATIONS[route.operation]
  if (route.method !== 'GET' && scope !== 'read' && scope !== null)
    await assertAudited(route, answer)
}

/** A change is in the audit log once; a refusal is not. */
async function assertAudited({ operation }: Route, { status, headers }: Answer): Promise<void> {
  const log = await call(`/v1/audit?action=${operation}`, callers.owner)
  const { data } = JSON.parse(log.text) as { data: { request_id: string }[] }
  const entries = data.filter(({ request_id: id }) => id === headers.get('x-request-id'))
  assert.equal(entries.length, status < 300 ? 1 : 0, `${operation}: entries of the audit log`)
}

function accountOperation(route: Route, row: Row, operation: Operation): void {
  const name = route.operation
  const honest = () => bodyOf(row)

  test('answers its account, and header, ledger and receipt agree', async () => {
    await assertAnswers(route, row)
  })

  test('refuses a caller without a token', async () => {
    await assertRefused(await callAs(route, row.path(), honest()), [401, 'token_missing'])
  })
  test('refuses a token that nobody minted', async () => {
    for (const token of [
      'nonsense',
      `${callers.owner.token.slice(0, -1)}~`,
      `svc_${'a'.repeat(38)}`,
    ])
      await assertRefused(await callAs(route, row.path(), { token, ...honest() }), [
        401,
        'token_unknown',
      ])
  })
  test('refuses a revoked token', async () => {
    const answer = await callAs(route, row.path(), { ...callers.revoked, ...honest() })
    await assertRefused(answer, [401, 'token_revoked'])
  })
  if (operation.answeredUnpaid === true) unpaidOperation(route, row)
  else {
    test('refuses an account whose balance is empty', async () => {
      const answer = await callAs(route, row.path(), { ...callers.depleted, ...honest() })
      await assertRefused(answer, [402, 'balance_depleted'])
      assert.equal(answer.headers.get('x-should-retry'), 'false')
    })
    test('refuses an account that has used its free tier', async () => {
      const answer = await callAs(route, row.path(), { ...callers.freeloader, ...honest() })
      await assertRefused(answer, [429, 'free_tier_exceeded'])
      assert.equal(answer.headers.get('x-should-retry'), 'false')
    })
  }

  for (const held of ['read', 'deploy', 'billing-admin'] as const) {
    const allowed = permits(held, operation.scope)
    test(`${allowed ? 'accepts' : 'refuses'} a token of scope ${held}`, async () => {
      const { account } = callers.owner
      const { token } = await mint(account, held)
      const answer = await callAs(route, row.path(), { token, ...honest() })
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
      const answer = await callAs(route, path)
      assert.ok((row.statuses ?? [200]).includes(answer.status), answer.text)
      assertOfNobody(answer)
      const theirs = await callAs(route, path, callers.other)
      assert.ok((row.statuses ?? [200]).includes(theirs.status), theirs.text)
      await assertCharged(theirs, { payer: callers.other.account, operation: name })
    })

  for (const { body, param } of row.badBodies ?? [])
    test(`refuses ${JSON.stringify(body)} and names ${param ?? 'no field'}`, async () => {
      const expected = { payer: callers.owner.account, operation: name }
      const answer = await callAs(route, row.path(), { ...callers.owner, body })
      const problem = await assertRefused(answer, [400, 'invalid_request'], expected)
      assert.equal(problem.error.param, param)
    })
  if (route.method === 'POST') test('has bad bodies in its row', () => assert.ok(row.badBodies))

  const { others } = row
  if (others !== undefined)
    test("does not find another account's", async () => {
      const expected = { payer: callers.owner.account, operation: name }
      const answer = await callAs(route, others.path(), { ...callers.owner, ...honest() })
      await assertRefused(answer, [404, others.code], expected)
    })

  if (operation.remembered)
    test('is what GET /v1/usage/last tells of afterwards', async () => {
      const { token } = await mint(callers.owner.account, 'billing-admin')
      const answer = await callAs(route, row.path(), { token, ...honest() })
      const charge = await chargeOf(ergon, answer.headers.get('x-receipt-id') ?? '')
      const last = await call('/v1/usage/last', { token })
      assert.equal(last.status, 200, last.text)
      assert.ok(last.text.includes(`"energy_j":${joulesOf(charge)},`), last.text)
      assert.ok(last.text.includes(`"carbon_mg":${milligramsOf(charge)},`), last.text)
      const { request_id: request } = JSON.parse(last.text) as { request_id: string }
      assert.equal(request, charge.request)
    })
}

const bodyOf = ({ body }: Row) => (body === undefined ? {} : { body })

function unpaidOperation(route: Route, row: Row): void {
  test('answers an account whose balance is empty, at the cost of nobody', async () => {
    const answer = await callAs(route, row.depleteds?.() ?? row.path(), {
      ...callers.depleted,
      ...bodyOf(row),
    })
    const isNone = row.others !== undefined && row.depleteds === undefined
    const statuses = isNone ? [404] : (row.statuses ?? [200])
    assert.ok(statuses.includes(answer.status), answer.text)
    if (row.isStreamed !== true) assertOfNobody(answer)
  })
  test('answers an account that has used its free tier, at the cost of nobody', async () => {
    const answer = await callAs(route, row.path(), { ...callers.freeloader, ...bodyOf(row) })
    // It was never billed: it has no last request, and the receipt is another account's.
    const isNone = row.others !== undefined || route.operation === 'usage.last'
    const statuses = isNone ? [404] : (row.statuses ?? [200])
    assert.ok(statuses.includes(answer.status), answer.text)
    if (row.isStreamed !== true) assertOfNobody(answer)
  })
}

for (const products of ['databases', 'functions'])
  test(`an account that cannot pay can suspend ${products}, and change nothing else of them`, async () => {
    const path = `/v1/${products}/none`
    const change = (body: object) => ({ method: 'PATCH', body })
    for (const [who, refusal] of [
      [callers.depleted, [402, 'balance_depleted']],
      [callers.freeloader, [429, 'free_tier_exceeded']],
    ] as const) {
      const answer = await call(path, { ...who, ...change({ suspended: true }) })
      assert.equal(answer.status, 404, answer.text)
      assertOfNobody(answer)
      const energy_budget = '5 kJ/day'
      for (const body of [{ suspended: false }, { suspended: true, energy_budget }])
        await assertRefused(await call(path, { ...who, ...change(body) }), refusal)
    }
  })

for (const [what, spoil] of Object.entries(SPOILS))
  test(`the matrix is red where ${what}`, async () => {
    const route = ROUTES.find(({ operation }) => operation === 'chat.create')
    const row = ROWS['chat.create']
    assert.ok(route && row)
    await using proxy = await openSpoilingProxy(ergon.baseUrl, spoil)
    await assert.rejects(assertAnswers(route, row, proxy.baseUrl), assert.AssertionError)
  })

for (const { method, path } of UNSERVED_ROUTES)
  test(`${method} ${path} is 501 for whoever asks, and 405 by another method`, async () => {
    const filled = path.replace(/:\w+/, 'wl_1')
    for (const token of [undefined, callers.owner.token]) {
      const who = token === undefined ? {} : { token }
      await assertRefused(await call(filled, { method, ...who }), [501, 'not_implemented'])
    }
    const answer = await call(filled, { method: 'PUT' })
    await assertRefused(answer, [405, 'method_not_allowed'])
    const methods = UNSERVED_ROUTES.filter((route) => route.path === path).map((one) => one.method)
    assert.equal(answer.headers.get('allow'), methods.join(', '))
  })

test('an operation that OpenAI serves and Ergon does not is 501, and the refusal names what is served', async () => {
  for (const name of ['responses', 'files', 'batches', 'moderations', 'assistants', 'threads']) {
    const answer = await call(`/v1/${name}`, { method: 'POST', ...callers.owner })
    await assertRefused(answer, [501, 'not_implemented'])
    assert.ok(answer.text.includes('POST /v1/chat/completions'), answer.text)
  }
  const speech = await call('/v1/audio/speech', { method: 'POST', ...callers.owner })
  await assertRefused(speech, [501, 'not_implemented'])
  const unknown = await call('/v1/chat', callers.owner)
  await assertRefused(unknown, [404, 'not_found'])
  assert.ok(unknown.text.includes('POST /v1/chat/completions'), unknown.text)
})

test('an unknown path is 404 for whoever asks', async () => {
  for (const token of [undefined, callers.owner.token])
    await assertRefused(await call('/v1/nowhere', token === undefined ? {} : { token }), [
      404,
      'not_found',
    ])
})

test('figures of answers that nobody pays add up to the charges that they share', assertShared)

test('the books add up after every operation by every caller', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
})
