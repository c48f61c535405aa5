// A node of two gateways that is killed and comes back with one: what both had answered is in the ledger,
// and no wallet stays reserved for the one that is gone.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { signalProcess } from '#cells/stop.ts'
import { createDisk } from '#charging/disk.ts'
import { readJournals } from '#charging/journal.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import { ledgerFaults } from '../faults/check.ts'
import { childrenOf, readyProgramOf } from '../faults/processes.ts'
import { product, sharedErgon } from '../product.ts'
import { fetchOnce } from '../patient-fetch.ts'
import type { Ergon } from '../start-ergon.ts'
import { PLAIN, TWO_GATEWAYS } from '../settings.ts'

product(PLAIN, TWO_GATEWAYS)

const CALLS = 24
const ROUNDS_MAX = 5

test(
  'a start with fewer gateways posts what the others had answered',
  { timeout: 300_000 },
  async () => {
    const ergon = sharedErgon()
    const told: string[] = []
    for (let round = 0; !isLeft(ergon, told); round++) {
      assert.ok(round < ROUNDS_MAX, 'the second gateway answers while the state is silent')
      if (round > 0) await ergon.resume(TWO_GATEWAYS)
      told.push(...(await killWhileSilent(ergon)))
    }
    await ergon.resume()
    // A gateway answers when all that was left is posted.
    const charged = await ergon.sql('select id from charges where id = any ($1)', [told])
    assert.deepEqual(new Set(charged.map(({ id }) => id)), new Set(told))
    const open = "select id from sessions where closed_at is null and process = 'gw-2'"
    assert.deepEqual(await ergon.sql(open), [])
    assert.deepEqual(await ergon.sql("select 1 from leases where session like 'gw-2.%'"), [])
    assert.deepEqual(await ledgerFaults(ergon), [])
  },
)

/** Kills it while its state is silent; resolves with the receipt ids that callers got meanwhile. */
async function killWhileSilent(ergon: Ergon): Promise<string[]> {
  // Both have a lease then.
  await ask(ergon)
  const server = await readyProgramOf(ergon, 'postgres')
  for (const pid of [server, ...childrenOf(server)]) signalProcess(pid, 'SIGSTOP')
  const told = await ask(ergon)
  await ergon.kill()
  return told
}

/** A connection each: the kernel chooses the gateway. */
async function ask({ baseUrl, token }: Ergon): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}`, connection: 'close' }
  const answers = await Promise.all(
    Array.from({ length: CALLS }, () => fetchOnce(`${baseUrl}/v1/models`, { headers })),
  )
  await Promise.all(answers.map((answer) => answer.text()))
  return answers
    .filter(({ status }) => status === 200)
    .map((answer) => String(answer.headers.get('x-receipt-id')))
}

/** Some of these are in the journal of the second gateway: the state was silent, so nowhere else. */
const isLeft = ({ dataFolder }: Ergon, told: readonly string[]): boolean =>
  readJournals(createDisk(join(dataFolder, 'journals', 'gw-2')))
    .flatMap(({ records }) => records)
    .filter(({ kind }) => kind === 'charge')
    .some(({ bytes }) => told.includes(parseCharge(bytes).id))
