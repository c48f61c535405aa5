// Sends a request for every S3 operation that writes, with a token that may only read. Each is refused and charged, and
// changes no stored row. The requests follow from the methods in contract/storage/s3-operations.ts, so a row with a wrong
// scope is found here.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { OPERATIONS } from '#contract/operations.ts'
import { S3_OPERATIONS, type S3Operation } from '#contract/storage/s3-operations.ts'
import { chargeOf } from '../books.ts'
import { energyHeaderFaults } from '../../acceptance/energy-headers.ts'
import { product, sharedErgon } from '../product.ts'
import { openSpoilingProxy } from '../spoiling-proxy.ts'
import type { Ergon } from '../start-ergon.ts'
import { METERED } from '../settings.ts'

product(METERED)

const BUCKET = 'scopes-part'
const KEY = 'kept'
const TABLES = ['buckets', 'object_versions', 'uploads', 'upload_parts', 'object_annotations']
/** The headers that meet a row's condition. */
const CONDITION_HEADERS: Readonly<Record<string, Record<string, string>>> = {
  'copy-source': { 'x-amz-copy-source': `${BUCKET}/${KEY}` },
  form: { 'content-type': 'multipart/form-data; boundary=b' },
}

type Request = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
}

/** One request for each served operation whose method writes. */
const requestsOf = (operations: Readonly<Record<string, S3Operation>>): Request[] =>
  Object.entries(operations).flatMap(([name, { method, level, subresource, when, answer }]) => {
    if (answer !== 'served' || !/^(PUT|POST|DELETE)$/.test(method)) return []
    const resource = level === 'object' ? `/${BUCKET}/${KEY}` : `/${BUCKET}`
    const path = subresource === null ? resource : `${resource}?${subresource}=1`
    return [{ name, method, path, headers: CONDITION_HEADERS[when ?? ''] ?? {} }]
  })

const REQUESTS = requestsOf(S3_OPERATIONS)
let ergon: Ergon
let tokens: Record<'read' | 'deploy', string>

before(async () => {
  ergon = sharedErgon()
  const mint = async (scope: 'read' | 'deploy') =>
    (await ergon.control('token.create', { account: ergon.account, scope })).token
  tokens = { read: await mint('read'), deploy: await mint('deploy') }
  for (const path of [`/${BUCKET}`, `/${BUCKET}/${KEY}`]) {
    const made = await ask({ name: path, method: 'PUT', path, headers: {} }, 'deploy')
    assert.equal(made.status, 200, await made.text())
  }
})

const ask = (
  { method, path, headers }: Request,
  scope: 'read' | 'deploy',
  baseUrl = ergon.baseUrl,
): Promise<Response> =>
  fetch(baseUrl + path, {
    method,
    headers: { ...headers, authorization: `Bearer ${tokens[scope]}` },
  })

/** 403 AccessDenied that names the scopes, with figures that the ledger has. */
async function assertRefused(request: Request, baseUrl?: string): Promise<void> {
  const answer = await ask(request, 'read', baseUrl)
  const text = await answer.text()
  assert.equal(answer.status, 403, text)
  assert.match(text, /<Code>AccessDenied<\/Code>/)
  assert.match(
    text,
    new RegExp(`storage\\.${request.name}: .*&quot;read&quot;.*&quot;deploy&quot;`),
  )
  assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [])
  const charge = await chargeOf(ergon, answer.headers.get('x-receipt-id') ?? '')
  assert.deepEqual([charge.status, charge.account], [403, 'nobody'])
}

/** Every row of the storage, as one text. */
async function stored(): Promise<string> {
  const rows = await Promise.all(
    TABLES.map((table) => ergon.sql(`select to_jsonb(t) as row from ${table} t order by 1`)),
  )
  return JSON.stringify(rows)
}

test('every operation that needs deploy is asked', () => {
  const asked = REQUESTS.map(({ name }) => `storage.${name}`)
  const writes = Object.entries(OPERATIONS)
    .filter(([name, { scope }]) => name.startsWith('storage.') && scope === 'deploy')
    .map(([name]) => name)
  assert.deepEqual(asked.toSorted(), writes.toSorted())
})

test('a token of scope read changes nothing', async (context) => {
  const kept = await stored()
  assert.match(kept, /scopes-part.*kept/)
  await Promise.all(
    REQUESTS.map((request) => context.test(request.name, () => assertRefused(request))),
  )
  assert.equal(await stored(), kept)
})

describe('a planted fault', () => {
  const [request] = requestsOf({ 'put-object': S3_OPERATIONS['put-object'] })

  test('is found: an answer of another status', async () => {
    assert.ok(request)
    await using proxy = await openSpoilingProxy(ergon.baseUrl, (answer) => {
      answer.status = 200
    })
    await assert.rejects(assertRefused(request, proxy.baseUrl), assert.AssertionError)
  })
  test('is found: an operation that a reader may call', async () => {
    assert.ok(request)
    const reading: Request = { ...request, name: 'get-object', method: 'GET' }
    await assert.rejects(assertRefused(reading), assert.AssertionError)
  })
  test('is found: an object that changed', async () => {
    assert.ok(request)
    const kept = await stored()
    assert.equal((await ask(request, 'deploy')).status, 200)
    assert.notEqual(await stored(), kept)
  })
})
