import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '#base/canonical-json.ts'
import { chargeText } from '#charging/charge-text.ts'
import { newIdBody } from '#base/ids.ts'
import { takeRandom } from '#base/random.ts'
import { carbonOf, nj, priceOf } from '#base/units.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { Bundle, writeBundle } from './bundle.ts'

/** Bundles texts and reads them back. */
function roundTrip(list: readonly Uint8Array[]): void {
  const leaves = list.map((bytes, nth) => ({ bytes, leafIndex: nth * nth }))
  const bundle = new Bundle(writeBundle(leaves))
  assert.equal(bundle.count, leaves.length)
  for (const [nth, { bytes, leafIndex }] of leaves.entries()) {
    assert.equal(bundle.bytes(nth).compare(bytes), 0, Buffer.from(bytes).toString())
    assert.equal(bundle.leafIndex(nth), leafIndex)
  }
}

// Values that a column of numbers, times, ids or salts could take for its own.
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', '=', '0', '00', '-1', '1e3', '007', '9007199254740993', '999999999999999'),
  fc.constantFrom(
    '2026-02-30T00:00:00.000Z',
    '2026-02-03T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
  ),
  fc.constantFrom('AAAAAAAAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAAB', 'AB==', 'rcpt_', 'db:db_x:y'),
  fc.integer({ min: 0, max: 2 ** 47 }).map((ms) => `rcpt_${newIdBody(ms)}`),
  fc.integer({ min: 0, max: 2 ** 47 }).map((ms) => `req_${newIdBody(ms)}`),
  fc.bigInt({ min: 0n, max: 10n ** 38n }).map(String),
)
const KEYS =
  'id request requests account token operation resource model tier status from to parts energy_nj carbon_pg factor mg_per_kwh pusd_per_j free charge_pusd salt method'
const key = fc.oneof(fc.constantFrom(...KEYS.split(' ')), fc.string({ maxLength: 4 }))
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 2 },
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(key, tie('any'), { maxKeys: 4 }),
  ),
})).any

test('charges of any fields come back from a bundle byte for byte', () => {
  const field = fc.dictionary(key, value, { maxKeys: 6 })
  const charge = fc
    .tuple(fc.nat(50), field)
    .map(([nth, fields]) => Buffer.from(JSON.stringify({ ...chargeOf(nth), ...fields })))
  const any = fc.oneof(
    charge,
    field.map((fields) => Buffer.from(JSON.stringify(fields))),
    fc.string({ unit: 'binary' }).map((one) => Buffer.from(one)),
    fc.uint8Array(),
  )
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 20 }), (list) => roundTrip(list)),
    { numRuns: 150 },
  )
})

test('fields of the oldest charges and of charges to come are read by their keys', () => {
  const { model: _, ...plain } = { ...chargeOf(1), model: '' }
  const list = [
    plain,
    { ...plain, model: 'a "b"\\ü', resource: 'database:db_1' },
    { ...plain, zone: 'x' },
  ]
  const bundle = new Bundle(
    writeBundle(
      list.map((one, leafIndex) => ({ leafIndex, bytes: Buffer.from(canonicalJson(one)) })),
    ),
  )
  assert.deepEqual(
    [0, 1, 2].map((nth) => bundle.value('model', nth)),
    [undefined, 'a "b"\\ü', undefined],
  )
  assert.equal(bundle.value('energy_nj', 2), plain.energy_nj)
  assert.equal(
    bundle.value('zone', 2),
    plain.factor.zone,
    'the first of a key, which is in the factor',
  )
})

/** A charge as a busy account has them. */
function ordinary(nth: number): Buffer {
  const ms = Date.UTC(2026, 5, 1) + nth * 210
  const body = newIdBody(ms)
  const energy = nj(BigInt(takeRandom(4).readUInt32BE()))
  return Buffer.from(
    chargeText({
      ...chargeOf(nth),
      id: `rcpt_${body}`,
      request: `req_${body}`,
      token: 'tok_01m7z2dtdje60rs6t1v8g8fzdb',
      model: nth % 3 === 0 ? 'ergon/small' : 'ergon/large',
      from: new Date(ms).toISOString(),
      to: new Date(ms + (takeRandom(1)[0] ?? 0)).toISOString(),
      parts: [{ meter: 'cpu-x64', method: 'model', band_pct: '40', energy_nj: String(energy) }],
      energy_nj: String(energy),
      carbon_pg: String(carbonOf(energy, 473_000n)),
      charge_pusd: String(priceOf(energy, 69_444n)),
      prompt_tokens: String(takeRandom(1)[0]),
      salt: takeRandom(16).toString('base64url'),
    }),
  )
}

test('a bundled charge takes at most 50 bytes', () => {
  const leaves = Array.from({ length: 2000 }, (_, nth) => ({
    leafIndex: nth,
    bytes: ordinary(nth),
  }))
  assert.ok(writeBundle(leaves).length <= 50 * leaves.length)
})

test('a bundle gives back the idle parts of charges', () => {
  const bytes = [7n, 0n, 3n].map((idle, nth) => {
    const known = { meter: 'cpu-x64', method: 'model', band_pct: '40' } as const
    const parts = [
      { ...known, energy_nj: '5' },
      ...(idle > 0n ? [{ ...known, energy_nj: String(idle), idle: true as const }] : []),
    ]
    return Buffer.from(
      chargeText({ ...chargeOf(nth), parts, energy_nj: String(5n + idle), carbon_pg: '0' }),
    )
  })
  const bundle = new Bundle(writeBundle(bytes.map((one, nth) => ({ leafIndex: nth, bytes: one }))))
  assert.deepEqual(
    bytes.map((_, nth) => bundle.bytes(nth)),
    bytes,
  )
})

test('a bundle with one wrong bit, or cut short, is not read', () => {
  const body = writeBundle([1, 2, 3].map((nth) => ({ leafIndex: nth, bytes: ordinary(nth) })))
  fc.assert(
    fc.property(fc.nat(8 * body.length - 1), (bit) => {
      const damaged = Buffer.from(body)
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      assert.throws(() => new Bundle(damaged), RangeError)
    }),
  )
  fc.assert(
    fc.property(fc.nat(body.length - 1), (length) => {
      assert.throws(() => new Bundle(body.subarray(0, length)), RangeError)
    }),
  )
})
