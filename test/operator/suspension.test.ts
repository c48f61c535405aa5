// The operator suspends an account: its requests are refused with the reason by every protocol, its databases end, its
// members read why, and a resumption brings all of it back.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { bookFaults } from '../books.ts'
import { endOf, connectTo, until } from '../databases/driver.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const REASON = 'It mines coins'
let account: string
let token: string
before(async () => {
  const ergon = sharedErgon()
  account = (await ergon.control('account.create', {})).id
  await ergon.control('funds.add', { account, pusd: '7000000000000' })
  token = (await ergon.control('token.create', { account, scope: 'billing-admin' })).token
})

async function ask(path: string, method = 'GET', body?: object) {
  const { baseUrl } = sharedErgon()
  const answer = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const { error, reason } = text.startsWith('{')
    ? (JSON.parse(text) as { error?: { code: string }; reason?: string })
    : {}
  return { status: answer.status, code: error?.code, reason, text }
}

test('account.suspend refuses requests with account_suspended, ends databases, and account.resume brings them back', async () => {
  const ergon = sharedErgon()
  const made = await ask('/v1/databases', 'POST', { name: 'held' })
  assert.equal(made.status, 201, made.text)
  await until('it is made', async () =>
    /"status":"deployed"/.test((await ask('/v1/databases/held')).text),
  )
  const { url } = JSON.parse((await ask('/v1/databases/held/url')).text) as { url: string }
  const client = await connectTo(new URL(url))
  assert.equal((await ask('/v1/buckets', 'GET')).code, 'not_found')
  const ended = endOf(client)
  const suspended = await ergon.cli('admin', 'account', 'suspend', account, '--reason', REASON)
  assert.equal(suspended.code, 0, suspended.stderr)

  const refused = await ask('/v1/databases/held/url')
  assert.deepEqual(
    [refused.status, refused.code, refused.reason],
    [403, 'account_suspended', REASON],
  )
  assert.match(refused.text, /the operator suspended the account: It mines coins/)
  for (const [path, method, body] of [
    ['/v1/databases', 'POST', { name: 'more' }],
    ['/v1/tokens', 'POST', { scope: 'read' }],
    ['/v1/databases/held', 'DELETE'],
  ] as const)
    assert.equal((await ask(path, method, body)).code, 'account_suspended', path)
  const records = ['/v1/balance', '/v1/ledger', '/v1/audit', '/v1/receipts']
  const resources = ['/v1/databases', '/v1/databases/held', '/v1/workloads', '/v1/functions']
  for (const path of [...records, ...resources]) assert.equal((await ask(path)).status, 200, path)
  // Payments that the account makes can be ended.
  const withoutTopups = await ask('/v1/account', 'PATCH', { auto_topup: null })
  assert.equal(withoutTopups.status, 200, withoutTopups.text)
  assert.equal((await ask('/v1/account', 'PATCH', { low_water: '2' })).code, 'account_suspended')
  assert.equal((await ask('/v1/payment-methods/none', 'DELETE')).code, 'payment_method_not_found')
  assert.match((await ask('/v1/audit')).text, /"action":"account.suspend".*It mines coins/s)
  assert.match((await ended).message, /the operator suspended the account of this database/)
  await assert.rejects(connectTo(new URL(url)), /the operator suspended the account/)

  const again = await ergon.cli('admin', 'account', 'suspend', account, '--reason', 'again')
  assert.match(again.stderr, /is suspended/)
  const own = await ergon.cli('admin', 'account', 'suspend', ergon.account, '--reason', 'x')
  assert.match(own.stderr, /it is the operator's own/)
  assert.match(
    (await ergon.cli('admin', 'account', 'suspend', 'acct_none', '--reason', 'x')).stderr,
    /Could not find/,
  )
  assert.equal((await ergon.cli('admin', 'account', 'suspend', account)).code, 2)
  assert.match(
    (await ergon.cli('admin', 'account', 'list')).stdout,
    new RegExp(`${account} .* suspended`),
  )

  assert.equal((await ergon.cli('admin', 'account', 'resume', account)).code, 0)
  assert.match((await ergon.cli('admin', 'account', 'resume', account)).stderr, /Could not resume/)
  assert.equal((await ask('/v1/databases')).status, 200)
  await until('it wakes', async () => {
    const woken = await connectTo(new URL(url)).catch(() => undefined)
    await woken?.end()
    return woken !== undefined
  })
  for (const action of ['account.suspend', 'account.resume']) {
    const log = await ergon.cli('audit', '--action', action, '--target', account)
    assert.match(log.stdout, new RegExp(account), `the operator's audit log has ${action}`)
  }
  const events = await ergon.sql<{ type: string }>(
    "select type from events where account = $1 and type like 'account.%' order by sequence",
    [account],
  )
  assert.deepEqual(
    events.map(({ type }) => type),
    ['account.suspended', 'account.resumed'],
  )
  assert.deepEqual(await bookFaults(ergon), [])
})

test('a public object of a suspended account is not served to strangers', async () => {
  const ergon = sharedErgon()
  const { id } = await ergon.control('account.create', {})
  await ergon.control('funds.add', { account: id, pusd: '7000000000000' })
  const pair = await ergon.control('token.create', { account: id, scope: 'deploy' })
  const put = (path: string, body?: string) =>
    fetch(`${ergon.baseUrl}${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${pair.token}` },
      ...(body !== undefined && { body }),
    })
  assert.equal((await put('/suspended-bucket')).status, 200)
  assert.equal((await put('/suspended-bucket/a.txt', 'hello')).status, 200)
  const policy = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: '*',
        Action: 's3:GetObject',
        Resource: 'arn:aws:s3:::suspended-bucket/*',
      },
    ],
  }
  assert.ok((await put('/suspended-bucket?policy', JSON.stringify(policy))).ok)
  const read = async () => (await fetch(`${ergon.baseUrl}/suspended-bucket/a.txt`)).status
  assert.equal(await read(), 200)
  await ergon.control('account.suspend', { account: id, reason: REASON })
  assert.equal((await put('/suspended-bucket/b.txt', 'more')).status, 403)
  // Payers are kept for five seconds.
  await until('strangers are refused', async () => (await read()) === 403)
  await ergon.control('account.resume', { account: id })
  await until('strangers are served', async () => (await read()) === 200)
})
