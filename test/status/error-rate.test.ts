// The error rate of an account: counted by gateways, public under a name at random, and nothing below 100 requests.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ErrorRate } from '#contract/accounts/error-rate.ts'
import { until } from '../functions/function-client.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { closeUpstreams, model, post, replies } from '../upstreams/scripted-models.ts'
import { openOwner, type Owner } from '../webhooks/owner.ts'
import { EACH_SECOND, stateOf, statusAddress, untilShown, type readStatus } from './status-page.ts'

product(PLAIN, EACH_SECOND)
after(closeUpstreams)

const FAILED = 12
const rateOf = async (owner: Owner): Promise<ErrorRate> =>
  (await owner.call('GET', '/v1/account/error-rate')).json as ErrorRate

/** Resolves with the first rate that has so many requests. */
async function rateWith(owner: Owner, requests: number): Promise<ErrorRate> {
  for (let left = 100; left > 0; left--) {
    const rate = await rateOf(owner)
    if (rate.requests >= requests) return rate
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return assert.fail(`${requests} requests were not counted`)
}
const nameOf = ({ public_name: name }: ErrorRate): string => name ?? assert.fail('it has a name')
const billingToken = async ({ account }: Owner): Promise<string> =>
  (await sharedErgon().control('token.create', { account, scope: 'billing-admin' })).token

async function renew(owner: Owner): Promise<Response> {
  const authorization = `Bearer ${await billingToken(owner)}`
  const init = { method: 'PUT', headers: { authorization } }
  return await fetch(`${sharedErgon().baseUrl}/v1/account/public-name`, init)
}

test('failures of the service count, refusals do not, and a page without 100 requests shows neither', async () => {
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  assert.equal((await rateOf(owner)).public_name, null)
  const broken = await model(replies(500, '{}'))
  for (let left = FAILED; left > 0; left--) {
    const { status } = await post(broken, {}, { token: owner.token })
    assert.ok(status >= 500, `${status}`)
  }
  for (let left = 5; left > 0; left--)
    assert.equal((await owner.call('GET', '/v1/none')).status, 404)
  assert.equal((await owner.call('POST', '/v1/webhooks', {})).status, 400)
  const rate = await rateWith(owner, FAILED + 1)
  assert.deepEqual([rate.failures, rate.shown, rate.requests_least], [FAILED, false, 100])
  assert.match(nameOf(rate), /^pub_[0-9a-f]{12}$/)
  const part = `inference:${broken}`
  const document = await untilShown(ergon, ({ parts }) => parts.some(({ id }) => id === part))
  const shown = document.error_rates.accounts.map(({ public_name: name }) => name)
  assert.ok(!shown.includes(nameOf(rate)))
  assert.ok(!JSON.stringify(document).includes(owner.account))
})

test('from 100 requests on the page has the rate, rounded, until the name is renewed', async () => {
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const { public_name: none } = await rateOf(owner)
  assert.equal(none, null)
  await ergon.sql('select add_account_counts($1, $2, $3)', [[owner.account], [4980], [7]])
  const before = await rateWith(owner, 4980)
  assert.equal(before.shown, true)
  const rowOf = (name: string) => (document: Awaited<ReturnType<typeof readStatus>>) =>
    document.error_rates.accounts.find(({ public_name: one }) => one === name)
  const document = await untilShown(ergon, (one) => rowOf(nameOf(before))(one) !== undefined)
  assert.deepEqual(rowOf(nameOf(before))(document), {
    public_name: nameOf(before),
    requests_at_least: 2000,
    failed_percent: '0.14',
  })
  const page = await (await fetch(statusAddress(ergon))).text()
  assert.ok(page.includes(`${nameOf(before)}</td>`) && !page.includes(owner.account))

  assert.equal((await renew(owner)).status, 200)
  const after = await rateWith(owner, 1)
  assert.notEqual(nameOf(after), nameOf(before))
  assert.ok(
    after.requests < 100 && !after.shown,
    'the counts of the old name are not those of the new one',
  )
  await untilShown(ergon, (one) => rowOf(nameOf(before))(one) === undefined)
  const { json } = await owner.call('GET', '/v1/audit?action=public-name.renew')
  assert.equal((json['data'] as unknown[]).length, 1)
  assert.equal((await owner.call('PUT', '/v1/account/public-name')).status, 403)
})

/** The count of requests of an account in the state. */
const countedOf = async ({ account }: Owner): Promise<number> => {
  const [row] = await sharedErgon().sql(
    'select coalesce(sum(requests), 0)::int as n from account_hours where account = $1',
    [account],
  )
  return Number(row?.['n'])
}

/** Makes a function at a route, and gives its url. */
async function deployed(owner: Owner, name: string, source: string): Promise<string> {
  const wanted = { name, file: 'index.mjs', source, route: `/${name}` }
  const { status, json } = await owner.call('POST', '/v1/functions', wanted)
  assert.equal(status, 201, JSON.stringify(json))
  return String(json['url'])
}

test('strangers at the routes of an account count for the part, never for the account', async () => {
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const url = await deployed(owner, 'counted', "export default () => new Response('here')")
  const ask = async () => (await fetch(url)).status
  // The ingress starts with the first function.
  await until(
    () => ask().catch(() => 0),
    (status) => status === 200,
  )
  for (let left = 120; left > 0; left--) assert.equal(await ask(), 200)
  // The one request of the owner is known, and those of the strangers have had the time.
  await until(
    () => countedOf(owner),
    (requests) => requests > 0,
  )
  await new Promise((resolve) => setTimeout(resolve, 4000))
  assert.equal(await countedOf(owner), 1)
})

test('a first version that never ends its load is no failure of the service, whoever asks for it', async () => {
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const url = await deployed(owner, 'hanging', 'await new Promise(() => setInterval(() => 0, 1e6))')
  const isStarting = async (): Promise<boolean> => {
    const answer = await fetch(url).catch(() => undefined)
    return answer?.status === 503 && (await answer.text()).includes('function_starting')
  }
  await until(isStarting, (is) => is)
  const states = new Map<string, ReturnType<typeof stateOf>>()
  await untilShown(
    ergon,
    (document) => states.set(document.written_at, stateOf(document, 'functions')).size >= 4,
    // Ten failures in a second would colour the page.
    async () =>
      assert.ok((await Promise.all(Array.from({ length: 20 }, isStarting))).every(Boolean)),
  )
  assert.deepEqual([...new Set(states.values())], ['ok'])
})

test('`ergon account error-rate` shows it, and --new-name renews it', async () => {
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  await ergon.sql('select add_account_counts($1, $2, $3)', [[owner.account], [250], [0]])
  const words = (...more: string[]) => [
    '--data',
    ergon.dataFolder,
    'account',
    'error-rate',
    ...more,
  ]
  const env = { PATH: process.env['PATH'] ?? '', ERGON_TOKEN: await billingToken(owner) }
  const shown = await ergon.commands.run({ words: words(), env })
  assert.match(
    shown.stdout,
    /public name {2}pub_\w{12}\nfailed {7}0 of 25\d requests in 24 hours\nstatus page {2}shown/,
  )
  const renewed = await ergon.commands.run({ words: words('--new-name', '--json'), env })
  assert.equal(renewed.code, 0, renewed.stderr)
  const { public_name: name } = JSON.parse(renewed.stdout) as ErrorRate
  assert.ok(name !== null && !shown.stdout.includes(name))
})

test('hours of the last day count, older ones go, and an account that is removed leaves nothing', async () => {
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const { account } = owner
  const put = (hours: number) =>
    ergon.sql(
      `insert into account_hours select $1, date_trunc('hour', now()) - $2 * interval '1 hour', 1000, 1`,
      [account, hours],
    )
  for (const hours of [1, 23, 25, 60]) await put(hours)
  const rate = await rateOf(owner)
  assert.deepEqual([rate.requests - (rate.requests % 1000), rate.failures], [2000, 2])
  await ergon.sql('select error_rates_upkeep(1000)')
  const left = async () =>
    Number(
      (
        await ergon.sql(
          'select count(*) as n from account_hours where account = $1 and requests = 1000',
          [account],
        )
      )[0]?.['n'],
    )
  assert.equal(await left(), 3)
  await ergon.sql(
    'insert into account_deletions (account, asked_at, due_at, begun_at) values ($1, now(), now(), now())',
    [account],
  )
  await ergon.sql('select leave_error_rates($1)', [account])
  await ergon.sql('select add_account_counts($1, $2, $3)', [[account], [1], [1]])
  const rows = await ergon.sql(
    'select from account_hours where account = $1 union all select from public_names where account = $1',
    [account],
  )
  assert.equal(rows.length, 0)
  await ergon.sql('delete from account_deletions where account = $1', [account])
})
