// The server's real answers fit the OpenAPI page: every route that needs no model.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { DESCRIPTIONS } from '#contract/descriptions.ts'
import { RESPONSE_HEADERS } from '#contract/headers.ts'
import { operationOf } from '#contract/operations.ts'
import { ROUTES, type Route } from '#contract/routes.ts'
import { problem } from '#contract/service-replies.ts'
import { contractOf, openapi } from '../../scripts/openapi.ts'
import { METERED, METRICS_TOKEN } from '../settings.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'

product(METERED)

let ergon: Ergon
const SEALED_MAX_MS = 60_000
before(() => {
  ergon = sharedErgon()
})

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${ergon.baseUrl}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${ergon.token}`, ...init.headers },
  })

/** The receipt of a request, once it is sealed; and what is said before. */
async function sealedReceipt(): Promise<string> {
  const id = (await ask('/v1/models')).headers.get('x-receipt-id') ?? ''
  const limit = AbortSignal.timeout(SEALED_MAX_MS)
  for (;;) {
    const answer = await ask(`/v1/receipts/${id}`, { signal: limit })
    if (answer.status === 200) return id
    await fits('receipt.get', answer)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** The reply has a documented status and type, a body of that schema, and the headers. */
async function fits(operation: Route['operation'], answer: Response): Promise<void> {
  assert.notEqual(operation, 'service.nobody')
  const { replies } = DESCRIPTIONS[operation as keyof typeof DESCRIPTIONS]
  const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? ''
  const media = replies[answer.status]?.media ?? {}
  assert.ok(type in media, `${operation} answered ${answer.status} ${type}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  media[type]?.parse(JSON.parse(bytes.toString('utf8')))
  for (const [name, { on }] of Object.entries(RESPONSE_HEADERS))
    if (on !== 'streamed') assert.ok(answer.headers.has(name), `${operation} lacks ${name}`)
}

/** Asks for a backup once the database is there; its id. */
async function madeBackup(path: string, headers: Record<string, string>): Promise<string> {
  const limit = AbortSignal.timeout(SEALED_MAX_MS)
  for (;;) {
    const answer = await ask(`${path}/backups`, {
      method: 'POST',
      headers,
      body: '{}',
      signal: limit,
    })
    if (answer.status === 201) return ((await answer.json()) as { id: string }).id
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** An evidence pack that is ready; its id. */
async function madePack(): Promise<string> {
  const wanted = { account: ergon.account, scope: 'billing-admin' } as const
  const { token } = await ergon.control('token.create', wanted)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' })
  const posted = await ask('/v1/compliance/packs', { method: 'POST', headers, body })
  const { id } = (await posted.clone().json()) as { id: string }
  await fits('pack.create', posted)
  const signal = AbortSignal.timeout(SEALED_MAX_MS)
  for (;;) {
    const answer = await ask(`/v1/compliance/packs/${id}`, { headers, signal })
    if (((await answer.json()) as { status: string }).status === 'ready') return id
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** A payment needs a card (test/payments/cards.test.ts), an export another token (test/accounts/deletion.test.ts), a stream time (test/live). */
const TESTED_ELSEWHERE: ReadonlySet<string> = new Set([
  'model.get',
  'topup.get',
  'account.export',
  'live.get',
])

const isOnPortal = (operation: Route['operation']) => operationOf(operation).onPortal === true

test('every GET answers with the documented status, type, schema and headers', async () => {
  const receipt = await sealedReceipt()
  // A request that usage/last remembers: the list of buckets.
  assert.equal((await ask('/')).status, 200)
  const keys = (await (await ask('/.well-known/ergon/receipt-keys.json')).json()) as {
    keys: { origin: string }[]
  }
  const [log = '', shard = ''] = keys.keys[0]?.origin.split('/') ?? []
  const database = 'documented'
  const headers = { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: database })
  await fits('database.create', await ask('/v1/databases', { method: 'POST', headers, body }))
  const backup = await madeBackup(`/v1/databases/${database}`, headers)
  const webhookBody = JSON.stringify({
    url: 'https://example.com/documented',
    events: ['balance.low'],
  })
  const posted = await ask('/v1/webhooks', { method: 'POST', headers, body: webhookBody })
  const webhook = ((await posted.clone().json()) as { id: string }).id
  await fits('webhook.create', posted)
  const functionBody = JSON.stringify({
    name: 'documented',
    file: 'index.mjs',
    source: "export default () => new Response('documented')",
  })
  const deployed = await ask('/v1/functions', { method: 'POST', headers, body: functionBody })
  await fits('function.deploy', deployed)
  const described = await ask('/v1/deployments', {
    method: 'POST',
    headers,
    body: JSON.stringify({ stack: 'documented', description: '' }),
  })
  const deployment = ((await described.clone().json()) as { id: string }).id
  await fits('deployment.create', described)
  const workloadBody = JSON.stringify({ name: 'documented', image: '127.0.0.1:1/documented' })
  const running = await ask('/v1/workloads', { method: 'POST', headers, body: workloadBody })
  await fits('workload.deploy', running)
  const pack = await madePack()
  const values: Record<string, string> = {
    pack,
    receipt,
    log,
    shard,
    database,
    backup,
    webhook,
    function: 'documented',
    deployment,
    workload: 'documented',
    member: 'me',
    id: webhook,
    '*': '0/000.p/1',
  }
  const asked: string[] = []
  for (const { method, path, operation } of ROUTES) {
    if (method !== 'GET' || TESTED_ELSEWHERE.has(operation) || isOnPortal(operation)) continue
    const filled = path.replaceAll(/:(\w+)|(\*)/g, (_, name, star) => values[name ?? star] ?? '')
    const token = operation === 'service.metrics' ? METRICS_TOKEN : ergon.token
    const headers = { authorization: `Bearer ${token}` }
    await fits(operation, await ask(filled, { headers }))
    asked.push(operation)
  }
  await fits(
    'database.delete',
    await ask(`/v1/databases/${database}`, { method: 'DELETE', headers }),
  )
  await fits(
    'function.delete',
    await ask('/v1/functions/documented', { method: 'DELETE', headers }),
  )
  await fits(
    'workload.delete',
    await ask('/v1/workloads/documented', { method: 'DELETE', headers }),
  )
  await fits('webhook.delete', await ask(`/v1/webhooks/${webhook}`, { method: 'DELETE', headers }))
  assert.ok(asked.includes('usage.last') && asked.includes('receipt.tile'), asked.join(' '))
  const asJson = { headers: { accept: 'application/json' } }
  await fits('receipt.get', await ask(`/v1/receipts/${receipt}`, asJson))
  for (const group of ['service', 'model', 'token', 'operation', 'resource', 'day'])
    await fits('usage.get', await ask(`/v1/usage?group_by=${group}`))
})

test('a query is what the OpenAPI page says of it, and any other name is refused with the known ones', async () => {
  for (const { path, operation, query } of ROUTES) {
    const described = DESCRIPTIONS[operation as keyof typeof DESCRIPTIONS].query?.shape ?? {}
    assert.deepEqual([...(query ?? [])].toSorted(), Object.keys(described).toSorted(), path)
  }
  for (const [path, param, known] of [
    [
      '/v1/usage?group-by=model',
      'group-by',
      'it takes from, to, group_by, step, service, operation, model, token, resource, cursor, limit',
    ],
    ['/v1/receipts?limit=1&after=5', 'after', 'it takes cursor, limit'],
    ['/v1/usage/last?token=x', 'token', 'it takes none'],
  ] as const) {
    const answer = await ask(path)
    assert.equal(answer.status, 400)
    const { error, detail } = problem.parse(await answer.json())
    assert.equal(error.param, param)
    assert.ok(detail.includes(known), detail)
  }
  assert.equal((await ask('/v1/models?limit=5')).status, 200, "OpenAI's clients may send more")
})

test('refusals are as the document says: no token, an unknown one, no model, no receipt', async () => {
  const { paths } = openapi(contractOf('0')) as Document
  const post = (body: string, headers: object = {}) => ({
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const stranger = { headers: { authorization: `Bearer svc_${'x'.repeat(38)}` } }
  const asks: [status: number, path: string, init: RequestInit, at?: string][] = [
    [401, '/v1/chat/completions', post('{}', { authorization: '' })],
    [401, '/v1/usage', stranger],
    [400, '/v1/embeddings', post('no JSON')],
    [404, '/v1/completions', post('{"model":"nobody","prompt":"a"}')],
    [413, '/v1/chat/completions', post(' '.repeat(9_000_000))],
    [415, '/v1/chat/completions', post('{}', { 'content-type': 'text/plain' })],
    [404, '/v1/models/nobody', {}, '/v1/models/{model}'],
    [404, '/v1/receipts/rcpt_nobody', {}, '/v1/receipts/{receipt}'],
    [400, '/v1/usage?from=never', {}, '/v1/usage'],
    [401, '/metrics', stranger],
  ]
  for (const [status, path, init, at = path] of asks) {
    const answer = await ask(path, init)
    const { title } = problem.parse(await answer.json())
    assert.equal(answer.status, status, path)
    const method = (init.method ?? 'GET').toLowerCase()
    const reference = paths[at]?.[method]?.responses[status]?.$ref ?? ''
    assert.ok(reference.split(/[_.]/).join('_').includes(title), `${at} ${status}: ${title}`)
  }
})
type Document = {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>
}

test('every POST refuses an empty body as a problem with the OpenAI error object', async () => {
  // A backup, a rotation, a restoration, a rollback and another invitation have nothing that must be chosen. A replay is of
  // all failed runs, a refund is of all by default, and the webhook of a processor is no JSON of ours.
  const takesNothing = [
    'database-backup.create',
    'token.rotate',
    'member.reinvite',
    'account.restore',
    'function.rollback',
    'function.replay',
    'workload.rollback',
    'workload.suspend',
    'workload.resume',
    'topup.refund',
    'payment.webhook',
  ]
  const { token } = await ergon.control('token.create', { scope: 'billing-admin' })
  const posts = ROUTES.filter(
    ({ method, operation }) => method === 'POST' && !isOnPortal(operation),
  )
  for (const { path } of posts.filter(({ operation }) => !takesNothing.includes(operation))) {
    const answer = await ask(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    assert.equal(answer.status, 400)
    assert.equal(answer.headers.get('content-type'), 'application/problem+json')
    const body = problem.parse(await answer.json())
    assert.equal(body.error.code, 'invalid_request')
    assert.equal(body.instance, answer.headers.get('x-request-id'))
  }
})

test('a path that is not there is a problem too', async () => {
  const answer = await ask('/v1/nothing')
  assert.equal(answer.status, 404)
  assert.equal(problem.parse(await answer.json()).title, 'not_found')
})
