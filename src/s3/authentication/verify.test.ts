// Our verifier against the AWS SDK's signer, which nobody here wrote.
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { parseTarget } from '#s3/target.fixture.ts'
import { parseCredential, type SignedCredential } from './credential.ts'
import { createSignatureVerifier } from './verify.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 9, 30, 0)
const BASES = { api: ['localhost'], website: [] }
const SECRET = 'svc_secret'
const verifier = createSignatureVerifier({ now: () => NOW_MS })

class Sha256 {
  #hash
  constructor(key?: string | Uint8Array) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key)
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

const signer = (accessKeyId = SECRET) =>
  new SignatureV4({
    service: 's3',
    region: 'eu-west-1',
    credentials: { accessKeyId, secretAccessKey: SECRET },
    sha256: Sha256 as never,
    uriEscapePath: false,
    applyChecksum: false,
  })

type Wire = { method: string; rawPath: string; rawQuery: string; rawHeaders: string[] }
type Plain = {
  method: string
  path: string
  query: Record<string, string>
  headers: Record<string, string>
}

const escape = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
const wire = (signed: Plain): Wire => ({
  method: signed.method,
  rawPath: signed.path,
  rawQuery: Object.entries(signed.query)
    .map(([name, value]) => `${escape(name)}=${escape(value)}`)
    .join('&'),
  rawHeaders: Object.entries(signed.headers).flat(),
})

function check(request: Wire, secret = SECRET, use = verifier) {
  const { rawPath, rawQuery, rawHeaders } = request
  const target = parseTarget(
    rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`,
    'localhost',
    BASES,
  )
  const headers: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers[rawHeaders[at]!.toLowerCase()] = rawHeaders[at + 1]!
  const credential = parseCredential(target, headers)
  assert.ok(credential.kind === 'header' || credential.kind === 'query')
  return use.verify(credential as SignedCredential, secret, { ...target, ...request })
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const plain = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'HEAD'),
  path: fc
    .array(text, { minLength: 1, maxLength: 4 })
    .map((parts) => `/${parts.map(escape).join('/')}`)
    .filter((path) => !path.includes('%00')),
  query: fc.dictionary(
    text.filter((name) => name !== '__proto__'),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    { maxKeys: 4 },
  ),
  metadata: fc.dictionary(
    fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/),
    fc.stringMatching(/^[ -~]{0,20}$/),
    { maxKeys: 4 },
  ),
})

const unsigned = (value: {
  method: string
  path: string
  query: Record<string, string>
  metadata: Record<string, string>
}): Plain & { protocol: string; hostname: string } => ({
  ...value,
  protocol: 'http:',
  hostname: 'localhost',
  headers: {
    host: 'localhost:8080',
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    ...Object.fromEntries(
      Object.entries(value.metadata).map(([name, text]) => [`x-amz-meta-${name}`, text]),
    ),
  },
})

const sign = async (value: Parameters<typeof unsigned>[0]): Promise<Plain> =>
  (await signer().sign(unsigned(value), { signingDate: new Date(NOW_MS) })) as unknown as Plain
const presign = async (value: Parameters<typeof unsigned>[0]): Promise<Plain> =>
  (await signer().presign(unsigned(value), {
    signingDate: new Date(NOW_MS),
    expiresIn: 60,
    unhoistableHeaders: new Set(['x-amz-content-sha256']),
  })) as unknown as Plain

const RUNS = { numRuns: 150 }

for (const [name, make] of Object.entries({ sign, presign })) {
  test(`verify() accepts what the SDK's ${name}() makes`, async () => {
    await fc.assert(
      fc.asyncProperty(plain, async (value) => {
        const { payload, seed } = check(wire(await make(value)))
        assert.equal(payload, 'UNSIGNED-PAYLOAD')
        assert.equal(seed?.scope, '20261121/eu-west-1/s3/aws4_request')
      }),
      RUNS,
    )
  })

  test(`verify() refuses any change of what ${name}() made`, async () => {
    const change = fc.constantFrom(...Object.keys(CHANGES)) as fc.Arbitrary<keyof typeof CHANGES>
    await fc.assert(
      fc.asyncProperty(plain, change, async (value, which) => {
        const signed = wire(await make(value))
        check(signed)
        const changed = CHANGES[which](structuredClone(signed))
        assert.throws(() => check(changed), { name: 'ErgonError' }, which)
      }),
      RUNS,
    )
  })
}

const flip = (text: string) => text.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
const CHANGES = {
  method: (wire: Wire) => ({ ...wire, method: wire.method === 'PUT' ? 'GET' : 'PUT' }),
  path: (wire: Wire) => ({ ...wire, rawPath: `${wire.rawPath}x` }),
  doubleSlash: (wire: Wire) => ({ ...wire, rawPath: wire.rawPath.replace(/^\//, '//') }),
  addedParameter: (wire: Wire) => ({ ...wire, rawQuery: `${wire.rawQuery}&added=1` }),
  header: (wire: Wire) => {
    const at = wire.rawHeaders.findIndex((name) => name === 'host')
    wire.rawHeaders[at + 1] = 'elsewhere:8080'
    return wire
  },
  addedAmzHeader: (wire: Wire) => ({
    ...wire,
    rawHeaders: [...wire.rawHeaders, 'x-amz-acl', 'public-read'],
  }),
  signature: (wire: Wire) => {
    const at = wire.rawHeaders.findIndex((name) => name === 'authorization')
    if (at >= 0) wire.rawHeaders[at + 1] = flip(wire.rawHeaders[at + 1]!)
    const rawQuery = wire.rawQuery.replace(/(X-Amz-Signature=)([0-9a-f]+)/, (_, name, value) => {
      return `${name}${flip(value)}`
    })
    return { ...wire, rawQuery }
  },
}

test('verify() refuses another secret', async () => {
  const value = { method: 'GET', path: '/b/k', query: {}, metadata: {} }
  const signed = wire(await sign(value))
  assert.throws(() => check(signed, 'svc_other'), { code: 'SignatureDoesNotMatch', status: 403 })
  assert.throws(
    () => check(signed, 'svc_other'),
    (error: { details: object }) => {
      assert.ok(!JSON.stringify(error.details).includes(SECRET))
      return true
    },
  )
})

test('verify() bounds the clock of a header to 15 minutes either way', async () => {
  const value = { method: 'GET', path: '/b/k', query: {}, metadata: {} }
  const signed = wire(await sign(value))
  for (const offsetMs of [-900_000, 900_000])
    check(signed, SECRET, createSignatureVerifier({ now: () => NOW_MS + offsetMs }))
  for (const offsetMs of [-900_001, 900_001])
    assert.throws(
      () => check(signed, SECRET, createSignatureVerifier({ now: () => NOW_MS + offsetMs })),
      {
        code: 'RequestTimeTooSkewed',
      },
    )
})

test('verify() ends a presigned request at its expiry and not before its day', async () => {
  const value = { method: 'GET', path: '/b/k', query: {}, metadata: {} }
  const signed = wire(await presign(value))
  check(signed, SECRET, createSignatureVerifier({ now: () => NOW_MS + 60_000 }))
  for (const offsetMs of [60_001, -900_001])
    assert.throws(
      () => check(signed, SECRET, createSignatureVerifier({ now: () => NOW_MS + offsetMs })),
      {
        code: 'AccessDenied',
      },
    )
})

test('verify() accepts restic, which leaves content-type out of the signature', async () => {
  const value = { method: 'PUT', path: '/b/k', query: {}, metadata: {} }
  const signed = wire(await sign(value))
  check({ ...signed, rawHeaders: [...signed.rawHeaders, 'Content-Type', 'text/plain'] })
})

test('verify() accepts an Authorization header without spaces and characters left bare', async () => {
  const value = { method: 'GET', path: '/b/a%21%28b%29', query: {}, metadata: {} }
  const signed = wire(await sign(value))
  const rawHeaders = signed.rawHeaders.map((part) =>
    part.startsWith('AWS4') ? part.replaceAll(', ', ',') : part,
  )
  check({ ...signed, rawHeaders, rawPath: '/b/a!(b)' })
})

test('parseCredential() tells the ways to ask apart', () => {
  const of = (target: string, headers: Record<string, string> = {}) =>
    parseCredential(parseTarget(target, 'localhost', BASES), headers)
  assert.deepEqual(of('/b'), { kind: 'anonymous' })
  assert.deepEqual(of('/b', { authorization: 'Bearer svc_x' }), { kind: 'bearer', token: 'svc_x' })
  const code = (expected: string, target: string, headers: Record<string, string> = {}) =>
    assert.throws(() => of(target, headers), { code: expected }, `${target} ${headers}`)
  code('NotImplemented', '/b', { authorization: 'AWS4-ECDSA-P256-SHA256 Credential=a' })
  code('InvalidArgument', '/b', { authorization: 'Basic abc' })
  code('InvalidArgument', '/b?X-Amz-Signature=x', { authorization: 'AWS4-HMAC-SHA256 x' })
  code('AuthorizationHeaderMalformed', '/b', { authorization: 'AWS4-HMAC-SHA256 Credential=a' })
  code('AuthorizationQueryParametersError', '/b?X-Amz-Signature=x')
  code('InvalidToken', '/b?X-Amz-Signature=x&X-Amz-Security-Token=t')
})

test('parseCredential() refuses expiries outside one second to seven days', () => {
  const of = (expires: string) =>
    parseCredential(
      parseTarget(
        `/b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2F20261121%2Fr%2Fs3%2Faws4_request&X-Amz-Date=20261121T093000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0&X-Amz-Expires=${expires}`,
        'localhost',
        BASES,
      ),
      {},
    )
  assert.equal(of('604800').kind, 'query')
  for (const expires of ['0', '-7']) assert.throws(() => of(expires), { status: 403 })
  for (const expires of ['soon', '604801', '999999999999999'])
    assert.throws(() => of(expires), {
      code: 'AuthorizationQueryParametersError',
      status: 400,
    })
})
