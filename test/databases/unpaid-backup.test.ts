// The balance of an account ends amid a nightly backup of its database: the backup fails in words that can be read, and
// with new funds the database and its nightly backups go on. Of the balance so much is left as the price says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { balanceReply } from '#contract/payments/payments.ts'
import { bookFaults } from '../books.ts'
import { newPayer, type Payer } from '../payments/client.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { until as untilSoon, withClient } from './driver.ts'

/** So many seconds are a day: a nightly backup that failed is tried again after 2.5 s. */
const DAY_S = 60
/** 80 MB that do not compress take more than the rest of the balance. */
const ROWS = 10_000
const ROW_KB = 8
const REST_J = 7n
const FUNDS = 1_000_000_000_000_000n
const NJ = 1_000_000_000n
const PRICE = 'ERGON_PRICE_PUSD_PER_J'
const FIRST_PRICE = 10_000n

/** Each poll is a request that somebody pays. */
const LOOK_MS = 500
const until = (what: string, holds: () => Promise<boolean>) =>
  untilSoon(what, async () => (await pause(LOOK_MS)) ?? (await holds()))

let ergon: Ergon
let payer: Payer
before(async () => {
  ergon = await startErgon({
    env: {
      ERGON_FREE_TIER_J: '0',
      ERGON_STORAGE_DAY_S: String(DAY_S),
      ERGON_DB_IDLE_SECONDS: '1',
    },
    life: { [PRICE]: String(FIRST_PRICE) },
  })
  payer = await newPayer(ergon)
})
after(() => ergon?.stop())

const fund = (pusd: bigint) =>
  ergon.control('funds.add', { account: payer.account, pusd: String(pusd) })
const shown = async () => {
  const { status, json, text } = await payer.call('GET', '/v1/databases/poor')
  assert.equal(status, 200, text)
  return json
}
const statusIs = (status: string) => until(status, async () => (await shown())['status'] === status)
const change = async (body: object) => {
  const { status, text } = await payer.call('PATCH', '/v1/databases/poor', body)
  assert.equal(status, 200, text)
}
const urlOf = async () =>
  new URL(String((await payer.call('GET', '/v1/databases/poor/url')).json['url']))
const balance = async () => {
  const { status, json, text } = await payer.call('GET', '/v1/balance')
  assert.equal(status, 200, text)
  return balanceReply.parse(json)
}

type Backup = { readonly id: string; readonly status: string; readonly reason: string | null }
const backups = async (): Promise<readonly Backup[]> => {
  const { status, json, text } = await payer.call('GET', '/v1/databases/poor/backups')
  assert.equal(status, 200, text)
  return json['data'] as Backup[]
}
const hasDone = async (since = '') =>
  (await backups()).some(({ id, status }) => id > since && status === 'done')

const fill = async (rows: number) =>
  withClient(await urlOf(), (client) =>
    client.query(
      `insert into filled select (select string_agg(gen_random_bytes(1024), ''::bytea)
         from generate_series(1, ${ROW_KB} + n * 0)) from generate_series(1, $1::int) n`,
      [rows],
    ),
  )

/** Starts the service with the price at which the balance lasts for REST_J. */
async function raisePrice(): Promise<bigint> {
  const { balance_pusd: all, retention_pusd: retention } = await balance()
  const keptNj = (BigInt(retention) * NJ) / FIRST_PRICE
  const price = (BigInt(all) * NJ) / (keptNj + REST_J * NJ)
  await ergon.restart({ [PRICE]: String(price) })
  return price
}

test('a balance that ends amid a backup ends the backup in words; with new funds the database and its nightly backups go on', async (t) => {
  await fund(FUNDS)
  const made = await payer.call('POST', '/v1/databases', { name: 'poor' })
  assert.equal(made.status, 201, made.text)
  const id = String(made.json['id'])
  await statusIs('deployed')
  await until('its first copy is made', () => hasDone())
  await withClient(await urlOf(), async (client) => {
    await client.query('create extension pgcrypto')
    await client.query('create table filled (bytes bytea)')
    await client.query('alter table filled alter bytes set storage external')
  })
  await fill(ROWS)
  await change({ suspended: true })
  await statusIs('suspended')
  const price = await raisePrice()
  await change({ suspended: false })
  await statusIs('deployed')
  // Of a server that has just run a minute's use is kept: no further cell would be admitted.
  await until('nothing is kept for its cells', async () => (await balance()).grace_pusd === '0')
  const [asked] = await ergon.sql<{ id: string }>("select want_backup($1, 'nightly') as id", [id])
  const backup = asked?.id ?? assert.fail()
  const rowOf = async () =>
    (
      await ergon.sql<{ status: string; reason: string; attempts: number }>(
        `select status, reason, is_unpaid, attempts,
           (select count(*)::int from database_parts where backup = k.id) as parts
         from database_backups k where id = $1`,
        [backup],
      )
    )[0]
  await until('it has ended', async () =>
    ['done', 'failed'].includes((await rowOf())?.status ?? ''),
  )
  const reason =
    'the account of this database cannot pay for its energy. An owner or admin of the account adds funds, or its free energy is renewed at 00:00 UTC.'
  // The attempt had begun.
  const ended = { status: 'failed', reason, is_unpaid: true, attempts: 1, parts: 0 }
  assert.deepEqual(await rowOf(), ended)
  // Its owner reads the reason before there are funds.
  assert.equal((await backups()).find((one) => one.id === backup)?.reason, reason)
  const left = BigInt((await balance()).balance_pusd)
  t.diagnostic(`${Number((left * NJ) / price) / 1e9} of ${REST_J} J are left`)
  assert.ok(left >= 0n)
  await fund(price * 1_000_000n)
  await statusIs('deployed')
  await until('a client is served', () => fill(ROWS / 10).then(Boolean, () => false))
  await until('a later nightly backup is done', () => hasDone(backup))
  const { rows } = await withClient(await urlOf(), (client) =>
    client.query('select count(*)::int as n from filled'),
  )
  assert.deepEqual(rows, [{ n: ROWS + ROWS / 10 }])
  assert.deepEqual(await ergon.sql("select from alarms where kind = 'database_backup_failing'"), [])
  assert.deepEqual(await bookFaults(ergon), [])
})
