// A database of an account whose balance is used up: suspended after the grace, resumed by a credit. The last of the money is
// taken back by SQL, and the grace is over at once.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { balanceReply } from '#contract/payments/payments.ts'
import { bookFaults } from '../books.ts'
import { newPayer, type Payer } from '../payments/client.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'
import { connectTo } from './driver.ts'

product(PLAIN)

const STATUS_MS_MAX = 120_000
let ergon: Ergon
let payer: Payer
before(async () => {
  ergon = sharedErgon()
  payer = await newPayer(ergon)
  await fund()
  const made = await payer.call('POST', '/v1/databases', { name: 'poor' })
  assert.equal(made.status, 201, made.text)
  await databaseIs('deployed')
})

const fund = () => ergon.control('funds.add', { account: payer.account, pusd: '1000000000000' })
const shown = async () => (await payer.call('GET', '/v1/databases/poor')).json

async function databaseIs(status: string): Promise<void> {
  const signal = AbortSignal.timeout(STATUS_MS_MAX)
  while ((await shown())['status'] !== status) await pause(100, undefined, { signal })
}

test('sessions of a database that nobody can pay end with words after the grace, it stays suspended, and a credit resumes it', async () => {
  const url = new URL(String((await payer.call('GET', '/v1/databases/poor/url')).json['url']))
  const client = await connectTo(url)
  await client.query('create table rows as select 1 as n')
  const ended = new Promise<Error & { code?: string; hint?: string }>((resolve) =>
    client.once('error', resolve),
  )
  await ergon.sql("update accounts set depleted_at = now() - interval '61 seconds' where id = $1", [
    payer.account,
  ])
  const error = await ended
  assert.equal(error.code, '53400', error.message)
  assert.match(error.hint ?? '', /owner or admin of the account adds funds/)
  await databaseIs('suspended')
  assert.equal((await shown())['reason'], 'the account cannot pay')
  await assert.rejects(connectTo(url), { code: '53400' })
  const balance = balanceReply.parse((await payer.call('GET', '/v1/balance')).json)
  assert.ok(balance.depleted_since !== null)
  // Its owner cannot resume it.
  await payer.call('PATCH', '/v1/databases/poor', { suspended: false })
  await pause(1000)
  assert.equal((await shown())['status'], 'suspended')
  const [slept] = (await payer.call('GET', '/v1/databases/poor/intervals')).json['data'] as object[]
  assert.equal((slept as { slept_by?: string }).slept_by, 'balance')
  await fund()
  await databaseIs('deployed')
  const again = await connectTo(url)
  assert.deepEqual((await again.query('select n from rows')).rows, [{ n: 1 }])
  await again.end()
  const parts = balanceReply.parse((await payer.call('GET', '/v1/balance')).json)
  const sum = [parts.available_pusd, parts.reserved_pusd, parts.grace_pusd, parts.retention_pusd]
  assert.equal(String(sum.map(BigInt).reduce((all, one) => all + one)), parts.balance_pusd)
  assert.deepEqual(await bookFaults(ergon), [])
})
