import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { corsHeaders, parseCors, preflightHeaders, printCors, type CorsRule } from './cors.ts'

const RULE: CorsRule = { origins: ['*'], methods: ['GET'], headers: [], exposed: [] }
const refused = (code: string, status: number) => (error: ErgonError) =>
  error.code === code && error.status === status

test('a CORS configuration survives XML', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '-', '.', '&', '*'), minLength: 1 })
  const patterns = fc.array(
    word.filter((one) => one.split('*').length <= 2),
    { minLength: 1, maxLength: 4 },
  )
  const rule = fc.record(
    {
      id: fc.string({ maxLength: 255 }).filter((one) => one.isWellFormed()),
      origins: patterns,
      methods: fc.subarray(['GET', 'PUT', 'POST', 'DELETE', 'HEAD'], { minLength: 1 }),
      headers: patterns,
      exposed: fc.array(fc.constantFrom('x-amz-meta-a', 'ETag')),
      maxAgeS: fc.nat(),
    },
    { requiredKeys: ['origins', 'methods', 'headers', 'exposed'], noNullPrototype: true },
  )
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 5 }), (rules) => {
      assert.deepEqual(parseCors(Buffer.from(printCors({ rules }))), { rules })
    }),
  )
})

test('parseCors() refuses what no browser could be told', () => {
  const rows: [rule: Partial<CorsRule>, code: string][] = [
    [{ methods: ['PATCH'] }, 'InvalidRequest'],
    [{ origins: ['*.*'] }, 'InvalidRequest'],
    [{ headers: ['*a*'] }, 'InvalidRequest'],
    [{ exposed: ['x-*'] }, 'InvalidRequest'],
    [{ exposed: ['a\r\nb: c'] }, 'InvalidRequest'],
    [{ methods: [] }, 'MalformedXML'],
    [{ origins: [] }, 'MalformedXML'],
    [{ id: 'x'.repeat(256) }, 'MalformedXML'],
  ]
  for (const [rule, code] of rows)
    assert.throws(
      () => parseCors(Buffer.from(printCors({ rules: [{ ...RULE, ...rule }] }))),
      refused(code, 400),
      JSON.stringify(rule),
    )
  assert.throws(() => parseCors(Buffer.from('<CORSConfiguration/>')), refused('MalformedXML', 400))
  const many = { rules: Array.from({ length: 101 }, () => RULE) }
  assert.throws(() => parseCors(Buffer.from(printCors(many))), refused('MalformedXML', 400))
})

test('corsHeaders() picks the first rule that fits origin and method', () => {
  const cors = {
    rules: [
      { ...RULE, origins: ['*suffix', 'abc*bcd'] },
      { ...RULE, origins: ['start*end'], exposed: ['ETag', 'x-a'], maxAgeS: 9 },
      { ...RULE, origins: ['*.put'], methods: ['PUT', 'DELETE'] },
    ],
  }
  const rows: [origin: string | undefined, method: string, allowed: string | undefined][] = [
    [undefined, 'GET', undefined],
    ['foo.suffix', 'GET', 'GET'],
    ['foo.suffix', 'PUT', undefined],
    ['foo.suffix.get', 'GET', undefined],
    ['startend', 'GET', 'GET'],
    ['start1end', 'GET', 'GET'],
    ['0start1end', 'GET', undefined],
    ['starend', 'GET', undefined],
    // The two ends may not share letters.
    ['abcd', 'GET', undefined],
    ['abcbcd', 'GET', 'GET'],
    ['foo.put', 'DELETE', 'PUT, DELETE'],
  ]
  for (const [origin, method, allowed] of rows) {
    const headers = corsHeaders(cors, { origin, method })
    assert.equal(headers['access-control-allow-methods'], allowed, `${origin} ${method}`)
    assert.equal(headers['access-control-allow-origin'], allowed && origin)
  }
  const headers = corsHeaders(cors, { origin: 'startend', method: 'GET' })
  assert.equal(headers['access-control-expose-headers'], 'ETag, x-a')
  assert.equal(headers['access-control-max-age'], '9')
  assert.equal(headers['access-control-allow-credentials'], 'true')
  const open = corsHeaders({ rules: [RULE] }, { origin: 'any', method: 'GET' })
  assert.equal(open['access-control-allow-origin'], '*')
  assert.equal(open['access-control-allow-credentials'], undefined)
})

test('preflightHeaders() wants origin, method and every header allowed', () => {
  const cors = { rules: [{ ...RULE, headers: ['X-Amz-Meta-*', 'content-type'] }] }
  const ask = { origin: 'o', method: 'GET' }
  const good = preflightHeaders(cors, { ...ask, headers: 'x-amz-meta-A, Content-Type' })
  assert.equal(good['access-control-allow-headers'], 'x-amz-meta-a, content-type')
  assert.ok(!('access-control-allow-headers' in preflightHeaders(cors, ask)))
  const forbidden = refused('AccessForbidden', 403)
  assert.throws(() => preflightHeaders(cors, { ...ask, headers: 'x-other' }), forbidden)
  assert.throws(() => preflightHeaders(cors, { ...ask, method: 'PUT' }), forbidden)
  assert.throws(() => preflightHeaders(undefined, ask), forbidden)
  const bad = refused('BadRequest', 400)
  assert.throws(() => preflightHeaders(undefined, { ...ask, origin: undefined }), bad)
  assert.throws(() => preflightHeaders(cors, { ...ask, method: undefined }), bad)
  assert.throws(() => preflightHeaders(cors, { ...ask, method: 'BREW' }), bad)
})

/** Counts how often its patterns are looked at. */
function counted(patterns: readonly string[]) {
  const told = { looks: 0 }
  const headers = new Proxy(patterns, {
    get(target, name, receiver): unknown {
      if (/^\d+$/.test(String(name))) told.looks++
      return Reflect.get(target, name, receiver)
    },
  })
  return { told, rule: { ...RULE, headers } }
}

test('preflightHeaders() looks at each pattern once, however many names are asked and how often', () => {
  const ask = { origin: 'o', method: 'GET' }
  const same = counted([...Array<string>(1500).fill('b*'), 'Z'])
  const answer = preflightHeaders(
    { rules: [same.rule] },
    { ...ask, headers: Array(7000).fill('z').join() },
  )
  assert.equal(answer['access-control-allow-headers'], 'z')
  assert.equal(same.told.looks, 1501)
  const names = Array.from({ length: 101 }, (_, index) => `x-${index}`)
  const some = counted([...Array<string>(1500).fill('b*'), 'x-*'])
  preflightHeaders({ rules: [some.rule] }, { ...ask, headers: names.slice(1).join() })
  assert.equal(some.told.looks, 1501)
  // More header names than any browser sends match no rule, and no pattern is compared.
  const all = counted(['*'])
  assert.throws(
    () => preflightHeaders({ rules: [all.rule] }, { ...ask, headers: names.join() }),
    refused('AccessForbidden', 403),
  )
  assert.equal(all.told.looks, 0)
})
