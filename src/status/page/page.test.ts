// The page, its JSON and its feed, from one document: what an operator writes stays text, and both forms are valid.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { statusDocument, type KnownStatus } from './document.ts'
import type { StateFacts } from './facts.ts'
import { feedOf } from './feed.ts'
import { NO_HISTORY } from './history.ts'
import { ofCounts } from './measure.ts'
import { pageHtml } from './page-html.ts'
import { measuresOf } from './writer.ts'

const NOW_MS = Date.UTC(2026, 10, 26, 9, 41)
const HOSTILE = `</style><script>alert(1)</script><img src=x onerror="alert(1)">' & \u0000\u001b]]>\ud800`
const at = { nowMs: NOW_MS, periodMs: 60_000, ownRegion: 'local' }
const NO_FACTS: StateFacts = {
  incidents: [],
  regions: [],
  models: [],
  rates: [],
  ledger: 'ok',
  receipts: 'ok',
  failedProbes: [],
  hasWebhooks: false,
  hasDatabases: false,
  hasRoutes: false,
}
const WORKING = {
  api: true,
  storage: true,
  databases: true,
  functions: false,
  webhooks: false,
  portal: true,
}
const known = (
  facts: Partial<StateFacts>,
  parts: KnownStatus['history']['parts'] = {},
): KnownStatus => ({
  history: { ...NO_HISTORY, parts },
  facts: { ...NO_FACTS, ...facts },
  factsAtMs: NOW_MS,
})
const incident = (words: string, endedAt: string | null = null) => ({
  id: 'inc_1',
  region: words,
  summary: words,
  started_at: '2026-11-26T08:00:00.000Z',
  ended_at: endedAt,
  lost: words,
  unbilled: words,
  updates: [{ at: '2026-11-26T08:30:00.000Z', words }],
})
const hostile = statusDocument(
  known({
    incidents: [incident(HOSTILE)],
    models: [{ id: HOSTILE, state: 'ready' }],
    regions: [HOSTILE],
    rates: [{ name: HOSTILE, requests: 100, failures: 1 }],
  }),
  at,
)
/** Elements of a text, by their names. */
const tagsOf = (text: string) =>
  new Set([...text.matchAll(/<([a-z!?][a-z0-9:]*)/gi)].map(([, name]) => name))

test('nothing that an operator or a name says becomes an element or an attribute of the page', () => {
  const plain = pageHtml(
    statusDocument(
      known({
        incidents: [incident('words')],
        models: [{ id: 'm', state: 'ready' }],
        rates: [{ name: 'pub_1', requests: 100, failures: 1 }],
      }),
      at,
    ),
  )
  const text = pageHtml(hostile)
  assert.deepEqual(tagsOf(text), tagsOf(plain))
  assert.ok(!text.includes('onerror="'))
  assert.ok(!text.includes('\u{0}') && !text.includes('\u{1b}'))
  assert.equal(text.split('<style>').length, 2)
})

test('the page is well-formed: each element is closed where it was opened', () => {
  const text = pageHtml(hostile)
    .replace('<!doctype html>', '')
    .replaceAll(/<(meta|link)([^>]*)>/g, '<$1$2/>')
  assert.equal(XMLValidator.validate(text), true)
  assert.notEqual(
    XMLValidator.validate(text.replace('</main>', '')),
    true,
    'the validator sees a fault',
  )
})

test('the feed is RSS 2.0 that a parser reads, with an id that changes with an update', () => {
  const text = feedOf(hostile, 'https://status.example.com')
  assert.equal(XMLValidator.validate(text), true)
  const { rss } = new XMLParser({ ignoreAttributes: false, processEntities: true }).parse(text) as {
    rss: { '@_version': string; channel: { link: string; item: Record<string, unknown> } }
  }
  assert.equal(rss['@_version'], '2.0')
  assert.equal(rss.channel.link, 'https://status.example.com/')
  assert.ok(String(rss.channel.item['title']).startsWith('</style><script>alert(1)</script>'))
  assert.equal(rss.channel.item['link'], 'https://status.example.com/#inc_1')
  assert.equal(rss.channel.item['pubDate'], 'Thu, 26 Nov 2026 08:30:00 GMT')
  const { guid } = rss.channel.item as { guid: { '#text': string } }
  assert.equal(guid['#text'], 'inc_1-2026-11-26T08:30:00.000Z')
})

test('the feed has an item for each part that is down, of the time at which it was first measured', () => {
  const sinceMs = NOW_MS - 60_000
  const parts = {
    functions: { state: 'down', sinceMs, days: {} },
    api: { state: 'ok', sinceMs, days: {} },
    storage: { state: 'degraded', sinceMs, days: {} },
  } as const
  const text = feedOf(statusDocument(known({}, parts), at), 'https://status.example.com')
  assert.equal(XMLValidator.validate(text), true)
  assert.deepEqual(
    [...text.matchAll(/<title>(.*)<\/title>/g)].map(([, title]) => title),
    ['Ergon status', 'Functions and containers: down'],
  )
  assert.ok(text.includes('>functions-2026-11-26T09:40:00.000Z</guid>'), text)
})

test('the verdict names the worst: parts that are down, then an open incident, then degraded parts', () => {
  const part = (state: 'ok' | 'degraded' | 'down') => ({ state, days: {} })
  const textOf = (facts: Partial<StateFacts>, parts: KnownStatus['history']['parts']) =>
    statusDocument(known(facts, parts), at).verdict.text
  const all = [
    'api',
    'inference',
    'storage',
    'databases',
    'functions',
    'ledger',
    'receipts',
    'webhooks',
    'payments',
    'portal',
  ]
  const working = Object.fromEntries(all.map((id) => [id, part('ok')]))
  assert.equal(textOf({}, {}), 'Nothing is measured yet')
  assert.equal(textOf({}, working), 'All parts are working')
  assert.equal(textOf({}, { api: part('ok') }), 'All measured parts are working')
  assert.equal(textOf({}, { ...working, api: part('degraded') }), 'API is degraded')
  assert.equal(textOf({ incidents: [incident('moon')] }, working), 'Region moon is degraded')
  assert.equal(
    textOf({ incidents: [incident('moon', '2026-11-26T09:00:00.000Z')] }, working),
    'All parts are working',
  )
  const down = { ...working, api: part('down'), storage: part('down'), receipts: part('down') }
  assert.equal(
    textOf({ incidents: [incident('moon')] }, down),
    'API, Object storage and Receipts are down',
  )
})

test('error rates: requests are rounded down, failures are never rounded to none', () => {
  const rates = [
    { name: 'a', requests: 100, failures: 0 },
    { name: 'b', requests: 4999, failures: 7 },
    { name: 'c', requests: 5_000_000, failures: 1 },
    { name: 'd', requests: 250, failures: 250 },
  ]
  const { accounts } = statusDocument(known({ rates }), at).error_rates
  assert.deepEqual(
    accounts.map((one) => [one.requests_at_least, one.failed_percent]),
    [
      [100, '0.00'],
      [2000, '0.14'],
      [5_000_000, '0.01'],
      [200, '100'],
    ],
  )
})

test('measuresOf(): the state that does not answer is down, and so is all that only gateways lead to', () => {
  const looks = { facts: NO_FACTS, last: null, counted: new Map(), answers: WORKING, missing: [] }
  const of = (given: Partial<Parameters<typeof measuresOf>[0]>) =>
    Object.fromEntries(measuresOf({ ...looks, ...given }))
  assert.deepEqual(of({}), {
    api: 'ok',
    inference: undefined,
    storage: 'ok',
    databases: 'ok',
    functions: undefined,
    ledger: 'ok',
    receipts: 'ok',
    webhooks: undefined,
    payments: undefined,
    portal: 'ok',
  })
  const stateless = of({ facts: undefined })
  assert.deepEqual([stateless['ledger'], stateless['receipts']], ['down', undefined])
  const closed = of({
    answers: { ...WORKING, api: false, storage: false, functions: true },
  })
  assert.deepEqual(
    ['api', 'inference', 'payments', 'databases', 'functions', 'ledger'].map((id) => closed[id]),
    ['down', 'down', 'down', 'ok', 'ok', 'ok'],
  )
  const asked = new Map([['payments', { requests: 3, failures: 0 }]])
  assert.equal(of({ counted: asked })['payments'], 'ok')
  assert.equal(of({ counted: asked, missing: ['payments'] })['payments'], undefined)
  const webhooks = of({ facts: { ...NO_FACTS, hasWebhooks: true } })
  assert.equal(webhooks['webhooks'], 'down')
  const routed = { facts: { ...NO_FACTS, hasRoutes: true } }
  assert.equal(of(routed)['functions'], 'down')
  const counted = new Map([['functions', { requests: 20, failures: 10 }]])
  assert.equal(
    of({ ...routed, counted, answers: { ...WORKING, functions: true } })['functions'],
    'down',
  )
  const probed = of({ facts: { ...NO_FACTS, failedProbes: ['storage'] } })
  assert.deepEqual([probed['storage'], probed['receipts']], ['degraded', 'ok'])
})

test('measuresOf(): a model that failed degrades inference, and is inference where it is the only one', () => {
  const of = (...states: ('ready' | 'loading' | 'failed')[]) => {
    const models = states.map((state, index) => ({ id: `m${index}`, state }))
    const measures = measuresOf({
      facts: { ...NO_FACTS, models },
      last: null,
      missing: [],
      counted: new Map([['inference:m0', { requests: 100, failures: 60 }]]),
      answers: { ...WORKING, databases: undefined },
    })
    return [measures.get('inference'), ...models.map(({ id }) => measures.get(`inference:${id}`))]
  }
  assert.deepEqual(of('ready', 'failed'), ['degraded', 'down', 'down'])
  assert.deepEqual(of('failed'), ['down', 'down'])
  assert.deepEqual(of('loading'), [undefined, 'down'])
})

test('ofCounts(): a period without requests is not up, and few failures say nothing', () => {
  const of = (requests: number, failures: number) => ofCounts({ requests, failures })
  assert.deepEqual(
    [of(0, 0), of(1, 1), of(9, 9), of(20, 10), of(200, 10), of(201, 10)],
    [undefined, 'ok', 'ok', 'down', 'degraded', 'ok'],
  )
})

test('a part that is not measured has no percent, whatever its history says', () => {
  const days = { '2026-11-26': { ok: 600, degraded: 0, down: 0 } }
  const percentOf = (state: 'ok' | undefined) =>
    statusDocument(known({}, { webhooks: { state, days } }), at).parts.find(
      ({ id }) => id === 'webhooks',
    )?.up_percent
  assert.deepEqual([percentOf('ok'), percentOf(undefined)], ['100', null])
  const page = pageHtml(statusDocument(known({}, { webhooks: { state: 'ok', days } }), at))
  assert.ok(page.includes('Webhooks: up 100\u{a0}% of 10\u{a0}min, trouble on 0 days'), page)
  const longer = { '2026-11-25': { ok: 50_000, degraded: 0, down: 0 }, ...days }
  const twoDays = pageHtml(
    statusDocument(known({}, { webhooks: { state: 'ok', days: longer } }), at),
  )
  assert.ok(twoDays.includes('Webhooks: up 100\u{a0}% of 14\u{a0}h'), twoDays)
})
