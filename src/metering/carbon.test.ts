import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Secret } from '#base/log.ts'
import { carbonOf, nj, printMilligrams } from '#base/units.ts'
import { createCarbon, factorOf, type CarbonAdapter } from './carbon.ts'
import { createElectricityMaps } from './carbon/electricity-maps.ts'
import { createCarbonTable } from './carbon-table.ts'
import { createUkCarbonIntensity } from './carbon/uk-carbon-intensity.ts'
import { createWattTime } from './carbon/watttime.ts'
import { createMarginal } from './marginal.ts'

const AT = Date.parse('2026-11-21T10:12:00Z')

/** A service that answers each request with the next of the given answers; the last one repeats. */
async function serve(t: TestContext, ...answers: unknown[]) {
  const requests: { url: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers })
    const answer = answers[Math.min(requests.length, answers.length) - 1]
    if (typeof answer === 'number') response.writeHead(answer).end('{}')
    else response.end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { requests, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Wall and monotonic time that the test moves. */
const createTime = () => {
  const time = { ms: AT }
  return { time, clock: { wallMs: () => time.ms, monotonicMs: () => time.ms } }
}

const closing = <A extends { close(): Promise<void> }>(t: TestContext, adapter: A): A => {
  t.after(() => adapter.close())
  return adapter
}

const halfHour = (actual: number | null, from = '2026-11-21T10:00Z', to = '2026-11-21T10:30Z') => ({
  data: [{ from, to, intensity: { forecast: 266, actual, index: 'moderate' } }],
})

test('the table gives every zone a plausible figure, its source, its year and its basis', () => {
  const table = createCarbonTable()
  assert.ok(table.size > 50)
  for (const [zone, row] of table) {
    assert.match(zone, /^([A-Z]{2}|WORLD)$/)
    assert.ok(row.mgPerKwh > 20_000n && row.mgPerKwh < 1_000_000n, zone)
    assert.ok(row.year >= 2022 && row.year <= 2025, zone)
  }
  const { clock } = createTime()
  assert.deepEqual(factorOf(createCarbon({ zone: 'FR', clock }).current()), {
    zone: 'FR',
    mg_per_kwh: '44180',
    source: 'Ember Yearly Electricity Data',
    year: '2024',
    basis: 'yearly-average-lifecycle-production',
  })
})

test('the default zone is the world and is labelled as assumed', () => {
  const reading = createCarbon({ zone: 'WORLD', clock: createTime().clock }).current()
  assert.deepEqual([reading.mgPerKwh, reading.basis], [473_000n, 'assumed'])
  // 0.31 J: the published example of a peer is wrong by 6400 times; 0.31 / 3.6e6 × 473 g = 0.0407 mg.
  assert.equal(printMilligrams(carbonOf(nj(310_000_000n), reading.mgPerKwh)), '0.040730555')
})

test('createCarbon() refuses a zone that nobody knows', () => {
  const { clock } = createTime()
  assert.throws(() => createCarbon({ zone: 'FRR', clock }), /No carbon figure.*"FRR"/)
})

test('UK Carbon Intensity gives the measured half hour, else its forecast as estimated', async (t) => {
  const { base, requests } = await serve(t, halfHour(263), halfHour(null))
  const uk = closing(t, createUkCarbonIntensity({ base }))
  assert.deepEqual(await uk.read({ zone: 'GB', atMs: AT }), {
    zone: 'GB',
    mgPerKwh: 263_000n,
    source: 'UK Carbon Intensity',
    year: 2026,
    basis: 'half-hourly-average-direct-actual',
    lifecycle: false,
    estimated: false,
    validUntilMs: Date.parse('2026-11-21T10:30:00Z'),
  })
  const forecast = await uk.read({ zone: 'GB', atMs: AT })
  assert.deepEqual([forecast.mgPerKwh, forecast.estimated], [266_000n, true])
  assert.equal(requests[0]?.url, '/intensity')
  await assert.rejects(uk.read({ zone: 'DE', atMs: AT }), /knows GB only/)
  await assert.rejects(uk.read({ zone: 'GB', atMs: AT + 3_600_000 }), /has ended/)
})

const latest = (more: object = {}) => ({
  zone: 'DE',
  carbonIntensity: 302,
  datetime: '2026-11-21T10:00:00.000Z',
  updatedAt: '2026-11-21T09:47:29.000Z',
  emissionFactorType: 'lifecycle',
  isEstimated: true,
  estimationMethod: 'TIME_SLICER_AVERAGE',
  ...more,
})

test('Electricity Maps is asked without its fallback to the caller’s address', async (t) => {
  const { base, requests } = await serve(t, latest())
  const maps = closing(t, createElectricityMaps({ token: new Secret('key'), base }))
  const reading = await maps.read({ zone: 'DE', atMs: AT })
  assert.deepEqual(
    [reading.mgPerKwh, reading.basis, reading.estimated, reading.validUntilMs],
    [
      302_000n,
      'hourly-average-lifecycle-consumption-estimated',
      true,
      Date.parse('2026-11-21T12:00:00Z'),
    ],
  )
  const url = new URL(requests[0]?.url ?? '', base)
  assert.equal(url.pathname, '/v3/carbon-intensity/latest')
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    zone: 'DE',
    emissionFactorType: 'lifecycle',
    shouldUseFallbackCallerLookup: 'false',
  })
  assert.equal(requests[0]?.headers['auth-token'], 'key')
})

const UNFIT: [name: string, answer: unknown, reason: RegExp][] = [
  ['is of another zone', latest({ zone: 'US-CAL-CISO' }), /zone is US-CAL-CISO, not DE/],
  ['has no zone', latest({ zone: undefined }), /zone is undefined/],
  ['is direct', latest({ emissionFactorType: 'direct' }), /emissionFactorType is direct/],
  ['is old', latest({ datetime: '2026-11-21T07:00:00Z' }), /its figure is of/],
  ['has no figure', latest({ carbonIntensity: null }), /carbonIntensity is null/],
  ['is in other units', latest({ carbonIntensity: 302_000 }), /carbonIntensity is 302000/],
  ['is negative', latest({ carbonIntensity: -1 }), /carbonIntensity is -1/],
  ['has no time', latest({ datetime: 'soon' }), /no time: soon/],
  ['is a refusal', 401, /HTTP 401/],
]
for (const [name, answer, reason] of UNFIT) {
  test(`Electricity Maps whose answer ${name} is refused, and the table serves and says so`, async (t) => {
    const { base } = await serve(t, answer)
    const { clock } = createTime()
    const adapter = createElectricityMaps({ token: new Secret('key'), base })
    const carbon = closing(t, createCarbon({ zone: 'DE', adapter, clock }))
    await carbon.refresh()
    assert.equal(carbon.current().mgPerKwh, 342_060n)
    assert.match(carbon.status().fallback ?? '', reason)
    assert.doesNotMatch(JSON.stringify(carbon.status()), /key"/)
  })
}

test('an adapter’s figure is kept while it is valid and asked for again after', async (t) => {
  const { time, clock } = createTime()
  const { base, requests } = await serve(
    t,
    halfHour(100),
    503,
    halfHour(150, '2026-11-21T10:30Z', '2026-11-21T11:00Z'),
  )
  const adapter = createUkCarbonIntensity({ base })
  const carbon = closing(t, createCarbon({ zone: 'GB', adapter, clock }))
  assert.match(carbon.status().fallback ?? '', /not asked yet/)
  await carbon.refresh()
  await carbon.refresh()
  assert.equal(requests.length, 1)
  assert.deepEqual([carbon.current().mgPerKwh, carbon.status().fallback], [100_000n, undefined])
  time.ms += 20 * 60_000
  assert.equal(carbon.current().mgPerKwh, 215_790n)
  assert.match(carbon.status().fallback ?? '', /has run out/)
  await carbon.refresh()
  assert.match(carbon.status().fallback ?? '', /HTTP 503/)
  await carbon.refresh()
  assert.equal(carbon.current().mgPerKwh, 150_000n)
})

test('the table stands in for a part of a country with the country, and names it', () => {
  const { clock } = createTime()
  const adapter: CarbonAdapter = {
    name: 'none',
    read: () => assert.fail('not asked'),
    close: async () => {},
  }
  assert.equal(createCarbon({ zone: 'US-CAL-CISO', adapter, clock }).current().zone, 'US')
  const unknown = createCarbon({ zone: 'XK', adapter, clock }).current()
  assert.deepEqual([unknown.zone, unknown.basis], ['WORLD', 'assumed'])
})

test('refresh() hands on what is not the adapter’s failure', async () => {
  const adapter: CarbonAdapter = {
    name: 'broken',
    read: () => Promise.reject(new TypeError('a bug')),
    close: async () => {},
  }
  const carbon = createCarbon({ zone: 'GB', adapter, clock: createTime().clock })
  await assert.rejects(carbon.refresh(), /a bug/)
})

const forecast = {
  data: [
    { point_time: '2026-11-21T10:15:00+00:00', value: 870 },
    { point_time: '2026-11-21T10:20:00+00:00', value: 0 },
  ],
  meta: { region: 'CAISO_NORTH', units: 'lbs_co2_per_mwh', signal_type: 'co2_moer' },
}

test('WattTime logs in once and gives a marginal forecast in mg per kWh', async (t) => {
  const { base, requests } = await serve(t, { token: 'abc' }, forecast)
  const { time, clock } = createTime()
  const options = { login: new Secret('ann:pw'), clock, base }
  const source = closing(t, createWattTime(options))
  const { points, basis } = await source.forecast('CAISO_NORTH')
  assert.equal(basis, 'marginal')
  assert.deepEqual(
    points.map((point) => [new Date(point.atMs).toISOString(), point.marginalMgPerKwh]),
    [
      ['2026-11-21T10:15:00.000Z', 394_625n],
      ['2026-11-21T10:20:00.000Z', 0n],
    ],
  )
  await source.forecast('CAISO_NORTH')
  assert.deepEqual(
    requests.map((request) => [request.url, request.headers.authorization]),
    [
      ['/login', `Basic ${Buffer.from('ann:pw').toString('base64')}`],
      ['/v3/forecast?region=CAISO_NORTH&signal_type=co2_moer', 'Bearer abc'],
      ['/v3/forecast?region=CAISO_NORTH&signal_type=co2_moer', 'Bearer abc'],
    ],
  )
  time.ms += 26 * 60_000
  await assert.rejects(source.forecast('CAISO_NORTH'), /no token/)
  assert.equal(requests[3]?.url, '/login')
})

test('WattTime logs in again after a refused token, and refuses other units', async (t) => {
  const { base, requests } = await serve(
    t,
    { token: 'old' },
    401,
    { token: 'new' },
    { ...forecast, meta: { units: 'kg_co2_per_mwh' } },
  )
  const { clock } = createTime()
  const options = { login: new Secret('ann:pw'), clock, base }
  const source = closing(t, createWattTime(options))
  await assert.rejects(source.forecast('PJM'), /HTTP 401/)
  await assert.rejects(source.forecast('PJM'), /units are kg_co2_per_mwh/)
  assert.equal(requests[3]?.headers.authorization, 'Bearer new')
})

test('the marginal signal of now and its lowest point are shown, and why there is none', async (t) => {
  const later = { point_time: '2026-11-21T10:25:00+00:00', value: 900 }
  const points = { ...forecast, data: [...forecast.data, later] }
  const { base, requests } = await serve(t, { token: 'abc' }, points, 503)
  const { time, clock } = createTime()
  const source = createWattTime({ login: new Secret('ann:pw'), clock, base })
  const marginal = closing(t, createMarginal({ source, region: 'CAISO_NORTH', clock }))
  const named = { source: 'WattTime', region: 'CAISO_NORTH' }
  assert.deepEqual(marginal.status(), { ...named, failure: 'not asked yet' })
  await marginal.refresh()
  await marginal.refresh()
  assert.equal(requests.length, 2)
  const least = { at: '2026-11-21T10:20:00.000Z', mg_per_kwh: '0' }
  assert.deepEqual(marginal.status(), { ...named, mg_per_kwh: '394625', least })
  time.ms += 10 * 60_000
  await marginal.refresh()
  const { failure = '', ...kept } = marginal.status()
  assert.deepEqual(kept, { ...named, mg_per_kwh: '0', least })
  assert.match(failure, /HTTP 503/)
  time.ms += 60 * 60_000
  assert.deepEqual(Object.keys(marginal.status()), ['source', 'region', 'failure'])
})
