// An account that cannot pay stops and deletes what it is charged for. A deletion whose last part of the log needs the
// server, which nobody pays, waits a day and ends without that part.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { bookFaults } from '../books.ts'
import { newPayer, type Answer, type Payer } from '../payments/client.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, connectTo, until as untilSoon, withClient } from './driver.ts'
import { idOf } from './restore-driver.ts'

const FUNDS = '2000000000000'
const FIRST_PRICE = { ERGON_PRICE_PUSD_PER_J: '10000' }
/** The balance pays for some millijoules. */
const HIGH_PRICE = { ERGON_PRICE_PUSD_PER_J: '900000000000000' }

/** Each poll is a request that somebody pays. */
const LOOK_MS = 500
const until = (what: string, holds: () => Promise<boolean>) =>
  untilSoon(what, async () => (await pause(LOOK_MS)) ?? (await holds()))

let ergon: Ergon
let payer: Payer
before(async () => {
  ergon = await startErgon({
    env: { ERGON_FREE_TIER_J: '0', ERGON_DB_ARCHIVE_SECONDS: '3600' },
    life: FIRST_PRICE,
  })
  payer = await newPayer(ergon)
})
after(() => ergon?.stop())

const answered = async (...asked: Parameters<Payer['call']>): Promise<Answer> => {
  const answer = await payer.call(...asked)
  assert.ok(answer.status < 300, `${asked.join(' ')}: ${answer.text}`)
  return answer
}
const statusIs = (path: string, status: string) =>
  until(`${path} is ${status}`, async () => (await answered('GET', path)).json['status'] === status)

async function newDatabase(name: string): Promise<URL> {
  await answered('POST', '/v1/databases', { name })
  await statusIs(`/v1/databases/${name}`, 'deployed')
  const url = new URL(String((await answered('GET', `/v1/databases/${name}/url`)).json['url']))
  await withClient(url, (client) => client.query('create table kept as select 1 as n'))
  await backUpNightly(ergon, idOf(url))
  return url
}

const isDeleted = async (id: string) =>
  (await ergon.sql("select from resources where id = $1 and actual = 'deleted'", [id])).length > 0
const isGone = async (url: URL) =>
  !existsSync(join(ergon.dataFolder, 'databases', idOf(url))) && (await isDeleted(idOf(url)))
const lostLogs = async () =>
  await ergon.sql<{ name: string; reason: string }>(
    "select data ->> 'database_name' as name, data ->> 'reason' as reason from events where type = 'database.log_lost'",
  )

test('an account that cannot pay suspends and deletes what it has', async () => {
  await ergon.control('funds.add', { account: payer.account, pusd: FUNDS })
  const [whole, cut] = [await newDatabase('whole'), await newDatabase('cut')]
  await newDatabase('stopped')
  const code = { file: 'index.mjs', source: "export default () => new Response('hello')" }
  const made = await answered('POST', '/v1/functions', { name: 'hello', ...code })
  await statusIs('/v1/functions/hello', 'deployed')
  // All servers but that of `cut` end with their whole log.
  await ergon.restart(FIRST_PRICE)
  const url = new URL(String((await answered('GET', '/v1/databases/cut/url')).json['url']))
  const client = await connectTo(url)
  await client.query('insert into kept values (2)')
  await ergon.kill()
  await client.end().catch(() => undefined)
  await ergon.resume(HIGH_PRICE)
  const create = await payer.call('POST', '/v1/databases', { name: 'more' })
  assert.equal(create.status, 402, create.text)

  await answered('PATCH', '/v1/databases/stopped', { suspended: true })
  const resumed = await payer.call('PATCH', '/v1/databases/stopped', { suspended: false })
  assert.equal(resumed.status, 402, resumed.text)
  for (const path of ['/v1/functions/hello', '/v1/databases/whole', '/v1/databases/cut'])
    await answered('DELETE', path)
  await until('the database is deleted', () => isGone(whole))
  await until('the function is deleted', () => isDeleted(String(made.json['id'])))
  assert.deepEqual(await lostLogs(), [])

  await until('the deletion waits for its energy', async () => {
    const text = "select from databases where last_log_cause = 'unpaid' and id = $1"
    return (await ergon.sql(text, [idOf(cut)])).length > 0
  })
  // The tries take a day.
  await ergon.sql(
    "update databases set last_log_tried_from = now() - interval '27 hours' where id = $1",
    [idOf(cut)],
  )
  await until('the database is deleted', () => isGone(cut))
  const [lost, ...others] = await lostLogs()
  assert.deepEqual([lost?.name, others], ['cut', []])
  assert.match(String(lost?.reason), /funds|balance/)
  await statusIs('/v1/databases/stopped', 'suspended')
  await ergon.sql("delete from alarms where kind = 'database_log_lost'")
  assert.deepEqual(await bookFaults(ergon), [])
})
