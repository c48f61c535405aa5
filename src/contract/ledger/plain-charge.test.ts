import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { carbonOf, nj, priceOf } from '#base/units.ts'
import { chargeBytes, parseCharge, type Charge } from './charge.ts'
import { isPlainCharge } from './plain-charge.ts'

type Made = {
  parts: readonly bigint[]
  mgPerKwh: bigint
  pusdPerJ: bigint
  free: boolean
  isTest: boolean
  texts: readonly string[]
}

const SUBJECT = 'ab01'.repeat(16)
const ELSEWHERE_MG = 7919n
/** Every other part has a factor of its own. */
const isElsewhere = (nth: number) => nth % 2 === 1
const factorOf = (mg: bigint) => ({
  zone: 'W',
  mg_per_kwh: mg.toString(),
  source: 's',
  year: '2025',
  basis: 'b',
})

function chargeOf({ parts, mgPerKwh, pusdPerJ, free, isTest, texts }: Made): Charge {
  const energy = nj(parts.reduce((a, b) => a + b, 0n))
  const here = parts.filter((_, nth) => !isElsewhere(nth)).reduce((a, b) => a + b, 0n)
  const carbonPg = parts
    .filter((_, nth) => isElsewhere(nth))
    .map((energyNj) => carbonOf(nj(energyNj), mgPerKwh + ELSEWHERE_MG))
    .reduce((a, b) => a + b, carbonOf(nj(here), mgPerKwh) as bigint)
  const [model, token, resource] = texts
  return {
    v: '1',
    id: 'rcpt_1',
    request: 'req_1',
    ...(isTest && free ? { requests: '60' } : {}),
    session: 'gw-1.1',
    seq: '7',
    account: 'acct_1',
    ...(token === undefined ? {} : { token }),
    operation: 'chat.create',
    ...(resource === undefined ? {} : { resource, cell: resource }),
    ...(model === undefined ? {} : { model, prompt_tokens: '12', completion_tokens: '8' }),
    tier: 'L0',
    routed_to: 'ergon/local/cpu-x64',
    status: 200,
    ...(isTest && !free ? { subject_sha256: SUBJECT } : {}),
    from: '2026-11-21T10:00:00.000Z',
    to: '2026-11-21T10:00:01.000Z',
    parts: parts.map((energyNj, nth) => ({
      meter: `m${nth}`,
      method: 'model',
      band_pct: '30',
      energy_nj: energyNj.toString(),
      ...(isElsewhere(nth) && { factor: factorOf(mgPerKwh + ELSEWHERE_MG) }),
      ...(nth % 3 === 2 && { idle: true }),
    })),
    energy_nj: energy.toString(),
    carbon_pg: carbonPg.toString(),
    factor: factorOf(mgPerKwh),
    pue_milli: '1000',
    price_id: 'p',
    pusd_per_j: pusdPerJ.toString(),
    free,
    charge_pusd: (free ? 0n : priceOf(energy, pusdPerJ)).toString(),
    unit: isTest ? 'tUSD' : 'USD',
    env: isTest ? 'test' : 'live',
    salt: 'AAAAAAAAAAAAAAAAAAAAAA',
  }
}

const made = (text: fc.Arbitrary<string>): fc.Arbitrary<Made> =>
  fc.record({
    parts: fc.array(fc.bigInt(0n, 10n ** 20n), { minLength: 1, maxLength: 3 }),
    mgPerKwh: fc.bigInt(0n, 10n ** 6n),
    pusdPerJ: fc.bigInt(0n, 10n ** 5n),
    free: fc.boolean(),
    isTest: fc.boolean(),
    texts: fc.array(text, { maxLength: 3 }),
  })
const plainText = fc.stringMatching(/^[ !#-[\]-~]{1,12}$/)

const holds = (bytes: Uint8Array): boolean => {
  try {
    parseCharge(bytes)
    return true
  } catch {
    return false
  }
}

/** Bytes where something is put in the place of something else. */
const spoilt = fc
  .record({
    one: made(fc.oneof(plainText, fc.string({ minLength: 1 }))),
    at: fc.nat(),
    length: fc.nat({ max: 12 }),
    by: fc.oneof(
      fc.uint8Array({ maxLength: 3 }),
      fc
        .constantFrom(
          '',
          '0',
          '1',
          '9',
          '"',
          ',',
          '{',
          '}',
          ']',
          '\\u0041',
          'true',
          '"a":"b",',
          'é',
        )
        .map((text) => new Uint8Array(Buffer.from(text))),
    ),
  })
  .map(({ one, at, length, by }) => {
    const bytes = chargeBytes(chargeOf(one))
    const begin = at % bytes.length
    const end = Math.min(bytes.length, begin + (length % 4 === 0 ? 1 : length))
    return Buffer.concat([bytes.subarray(0, begin), by, bytes.subarray(end)])
  })

test('isPlainCharge() knows every charge of plain text', () => {
  fc.assert(
    fc.property(made(plainText), (one) => {
      assert.ok(isPlainCharge(chargeBytes(chargeOf(one))))
    }),
  )
})

test('isPlainCharge() says true of nothing that parseCharge() refuses', () => {
  fc.assert(
    fc.property(spoilt, (bytes) => {
      assert.ok(!isPlainCharge(bytes) || holds(bytes), bytes.toString('utf8'))
    }),
    { numRuns: 5000 },
  )
})

test('isPlainCharge() refuses each figure that is one too many, and bytes behind the end', () => {
  const one = {
    parts: [70_000_000n, 50_000_000n],
    mgPerKwh: 473_000n,
    pusdPerJ: 69_444n,
    texts: [],
  }
  const charge = chargeOf({ ...one, free: false, isTest: true })
  assert.ok(isPlainCharge(chargeBytes(charge)))
  for (const key of ['energy_nj', 'carbon_pg', 'charge_pusd'] as const) {
    const wrong = { ...charge, [key]: (BigInt(charge[key]) + 1n).toString() }
    assert.equal(isPlainCharge(chargeBytes(wrong)), false, key)
  }
  assert.equal(isPlainCharge(chargeBytes({ ...charge, free: true })), false)
  assert.equal(isPlainCharge(chargeBytes({ ...charge, unit: 'USD' })), false)
  assert.equal(isPlainCharge(Buffer.concat([chargeBytes(charge), Buffer.from(' ')])), false)
  for (const subject of ['', SUBJECT.slice(1), SUBJECT.toUpperCase(), `${SUBJECT}0`]) {
    const wrong = chargeBytes({ ...charge, subject_sha256: subject })
    assert.ok(!isPlainCharge(wrong) && !holds(wrong), subject)
  }
  const bytes = chargeBytes(charge).toString()
  for (const mg of ['473000', '480919']) {
    const other = bytes.replace(`"mg_per_kwh":"${mg}"`, '"mg_per_kwh":"999999999999"')
    assert.notEqual(other, bytes)
    assert.equal(isPlainCharge(Buffer.from(other)), false, mg)
    assert.ok(!holds(Buffer.from(other)), mg)
  }
})
