// Servers that recover while the energy budget of their database comes to its end: nothing has failed, the words name
// the budget, and a raised budget lets the database go on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readProcess } from '#cells/process-table.ts'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, connectTo, makeDatabase, until, withClient } from './driver.ts'
import { processOf } from './restore-driver.ts'

/** Log whose replay takes several joules, after the copy. */
const ROWS = 300_000
/** A start needs a joule. The replay needs more than the half joule that is left. */
const LITTLE_NJ = 1_500_000_000
/** The recovery is slowed before its end, and the next try is 15 s later. */
const WORDS_MS = 180_000
const LIMITED = "array['cell.standing', 'database.session']"

let ergon: Ergon
let url: URL
let headers: Record<string, string>
before(async () => {
  ergon = await startErgon({ models: 'none' })
  headers = { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' }
  url = await makeDatabase(ergon, 'source')
  await backUpNightly(ergon, idOf(url))
  await withClient(url, (client) =>
    client.query(`create table many as select n, md5(n::text) as text from generate_series(1, ${ROWS}) n;
      create index on many (text)`),
  )
})
after(() => ergon?.stop())

const idOf = ({ username }: URL) => `db_${username.slice(2)}`
const cellOf = (id: string) => id.replace('_', '-')

type Shown = {
  readonly status: string
  readonly reason: string | null
}
const shown = async (name: string) =>
  JSON.parse((await ergon.cli('db', 'show', name, '--json')).stdout) as Shown

/** A budget below the least that the API takes. */
const limit = (id: string, nj: number | string) =>
  ergon.sql(`select set_budget(id, account, ${nj}, ${LIMITED}) from resources where id = '${id}'`)

const used = async (id: string) =>
  Number((await ergon.sql<{ nj: string }>(`select budget_used_nj('${id}') as nj`))[0]?.nj)

const alarms = () =>
  ergon.sql("select from alarms where kind in ('database_failing', 'database_restore_failed')")

/** Restores the source and ends its budget amid the recovery; resolves once the restore waits and says so. */
async function untilItWaits(
  name: string,
  leaveLittle: (id: string) => Promise<unknown>,
): Promise<void> {
  const body = { name, from: { database: 'source' }, energy_budget: '5 kJ/day' }
  const made = await fetch(`${ergon.baseUrl}/v1/databases`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const { id } = (await made.json()) as { id: string }
  // The copy is limited by the budget, too, and would fail.
  const recovering = await processOf(ergon, cellOf(id), / startup recovering/)
  process.kill(recovering, 'SIGSTOP')
  try {
    await leaveLittle(id)
    await until('what is held ahead is given back', async () => {
      const text = `select from budget_days d join wallets w on w.id = d.wallet
        where budget = $1 and posted <= ${LITTLE_NJ}`
      return (await ergon.sql(text, [id])).length > 0
    })
  } finally {
    // It may have ended by then.
    if (readProcess(recovering) !== undefined) process.kill(recovering, 'SIGCONT')
  }
  await until(
    'it says that it waits for energy',
    async () => {
      const { status, reason } = await shown(name)
      assert.ok(['pending', 'deploying'].includes(status), `${status}: ${reason}`)
      return /energy budget is used up/.test(reason ?? '')
    },
    WORDS_MS,
  )
  assert.ok((await used(id)) > 0)
}

async function untilAllIsThere(name: string): Promise<void> {
  await until('it is made', async () => (await shown(name)).status === 'deployed')
  const again = new URL((await ergon.cli('db', 'url', name)).stdout.trim())
  const { rows } = await withClient(again, (client) =>
    client.query('select count(*)::int as n from many'),
  )
  assert.deepEqual(rows, [{ n: ROWS }])
  assert.deepEqual(await alarms(), [])
}

test('a restore whose recovery uses the budget up waits with words, and goes on with a raised one', async () => {
  await untilItWaits('again', async (id) => limit(id, (await used(id)) + LITTLE_NJ))
  assert.equal((await ergon.cli('db', 'budget', 'again', '5 kJ/day')).code, 0)
  await untilAllIsThere('again')
})

test('a client whose server is ended by the budget amid its recovery reads so, and nothing has failed', async () => {
  const id = idOf(url)
  const writer = await connectTo(url)
  await writer.query('checkpoint').catch(() => undefined)
  await writer.query(`update many set text = text || 'x' where n <= ${ROWS / 2}`)
  await writer.end()
  await ergon.sql(`select set_budget('${id}', account, null) from resources where id = '${id}'`)
  await ergon.cli('db', 'budget', 'source', '5 kJ/day')
  await pause(1500)
  await limit(id, (await used(id)) + LITTLE_NJ)
  await ergon.killCell(cellOf(id))
  const refused: string[] = []
  await until('a client reads that the budget is used up', async () => {
    const error = await connectTo(url).then(
      async (client) => await client.end(),
      (cause: unknown) => cause as Error & { code?: string },
    )
    if (error instanceof Error) refused.push(`${error.code} ${error.message}`)
    return /^53400 .*budget/.test(refused.at(-1) ?? '')
  })
  assert.equal((await shown('source')).status, 'deployed')
  assert.deepEqual(await alarms(), [])
  assert.deepEqual(await ergon.sql("select from events where type = 'database.failed'"), [])
  assert.equal((await ergon.cli('db', 'budget', 'source', '5 kJ/day')).code, 0)
  await until('clients are served', () =>
    withClient(url, async (client) => (await client.query('select 1')).rowCount === 1).catch(
      () => false,
    ),
  )
  assert.deepEqual(await bookFaults(ergon), [])
})

test('a restore whose recovery used the budget up goes on by itself on the next day', async () => {
  // As if all but a little of its day had been charged without the budget.
  await untilItWaits('patient', (id) =>
    ergon.sql(`do $$ declare
      day constant text := budget_day('${id}', ledger_now());
    begin
      perform from wallets where id = day for no key update;
      perform from log_head for update;
      update budget_days d set unlimited_nj = unlimited_nj + nj_per_day - budget_used_nj(b.id) - ${LITTLE_NJ}
        from budgets b where wallet = day and b.id = '${id}';
      perform fit_budget(day);
      perform pg_notify('ergon_budgets', '${id}');
    end $$`),
  )
  // The clock of the state says which day it is.
  await ergon.sql(`create or replace function ledger_now() returns timestamptz language sql volatile as $$
    select clock_timestamp() + interval '1 day' $$`)
  await untilAllIsThere('patient')
  assert.deepEqual(await bookFaults(ergon), [])
})
