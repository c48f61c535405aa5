// kill -9 of any process, under load, in any order: every receipt id that a client got is in the ledger and sealed,
// once; the books add up; nothing is left running. ERGON_LONG=1 goes on for hours.
import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from './random.ts'
import { ledgerFaults, noPins, orphans, receiptFaults } from './check.ts'
import { startClients, type Clients } from './clients.ts'
import { signalProcess } from '#cells/stop.ts'
import { childrenOf, programOf, statusOf } from './processes.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { CHAT, EMBEDDING, MODELS } from '../settings.ts'

product(MODELS)

const LONG = process.env['ERGON_LONG'] === '1'
const ROUNDS = Number(process.env['ERGON_ROUNDS'] ?? (LONG ? 200 : 1))
const SEED = Number(process.env['ERGON_SEED'] ?? Date.now() % 1_000_000)
const CLIENTS = LONG ? 4 : 2
const BETWEEN_KILLS_MS = 600
const SETTLED_MAX_MS = 60_000
const NO_MODELS = { ERGON_MODELS: 'none' }
const TARGETS = [
  'gw-1',
  'postgres',
  'a backend',
  'signer',
  'jobs',
  'tasks',
  `model-${CHAT}`,
] as const

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

test('kill -9 of every process under load loses nothing that was told', async (t) => {
  t.diagnostic(`ERGON_SEED=${SEED}`)
  const random = createRandom(SEED)
  await ergon.waitForModel(CHAT)
  await ergon.waitForModel(EMBEDDING)
  const pins = noPins()
  for (let round = 1; round <= ROUNDS; round++) {
    const clients = startClients(ergon, { count: CLIENTS, inference: true })
    try {
      for (const target of random.shuffled(TARGETS)) {
        await pause(random.below(BETWEEN_KILLS_MS))
        await killOne(ergon, target, random.below)
      }
      await pause(random.below(BETWEEN_KILLS_MS))
      await killAgent(ergon)
      await settled(ergon)
      await pause(BETWEEN_KILLS_MS)
    } finally {
      await clients.stop()
    }
    report(t, round, clients)
    assert.deepEqual(clients.bare, [], 'every answer names its receipt')
    assert.deepEqual(
      await receiptFaults(ergon, clients.receipts.keys(), { pins }),
      [],
      `round ${round}`,
    )
    assert.deepEqual(await ledgerFaults(ergon), [], `round ${round}`)
  }
})

test('planted fault: a journal that is deleted turns the check red', async () => {
  const clients = startClients(ergon, { count: CLIENTS, inference: false })
  try {
    await heard(clients, 20)
    await killOne(ergon, 'postgres', () => 0)
    // While the state is away, reported charges are in the journal alone.
    await heard(clients, clients.receipts.size + 10)
    await ergon.kill()
  } finally {
    await clients.stop()
  }
  const journal = join(ergon.dataFolder, 'journals', 'gw-1')
  for (const name of readdirSync(journal)) rmSync(join(journal, name))
  await ergon.resume(NO_MODELS)
  const faults = await receiptFaults(ergon, clients.receipts.keys(), { postedMaxMs: 2000 })
  assert.match(faults[0] ?? '', /was told to a client and is charged 0 times/)
})

async function killOne(
  ergon: Ergon,
  target: string,
  below: (limit: number) => number,
): Promise<void> {
  const name = target === 'signer' ? `signer-${1 + below(5)}` : target
  const pid =
    name === 'a backend'
      ? childrenOf((await programOf(ergon, 'postgres')) ?? -1).at(-1)
      : await programOf(ergon, name)
  // Between two lives, as what it needs was killed just before.
  if (pid === undefined) return
  // The process may have ended between the scan and the signal.
  signalProcess(pid, 'SIGKILL')
}

/** As a crash of the agent: nothing of it is left, and the next start works at once. */
async function killAgent(ergon: Ergon): Promise<void> {
  await ergon.kill()
  assert.deepEqual(await orphans(ergon), [], 'nothing outlives the agent')
  await ergon.resume()
}

/** Waits until every cell answers again and both models are served. */
async function settled(ergon: Ergon): Promise<void> {
  const deadline = performance.now() + SETTLED_MAX_MS
  const isUp = async () => {
    const { cells } = await statusOf(ergon)
    const names = cells.filter(({ state }) => state === 'ready').map(({ name }) => name)
    return ['gw-1', 'jobs', 'tasks', 'signer-5', `model-${CHAT}`].every((name) =>
      names.includes(name),
    )
  }
  while (!(await isUp())) {
    if (performance.now() > deadline) assert.fail('it does not come up again')
    await pause(100)
  }
  await ergon.waitForModel(CHAT)
}

async function heard(clients: Clients, count: number): Promise<void> {
  const deadline = performance.now() + SETTLED_MAX_MS
  while (clients.receipts.size < count) {
    if (performance.now() > deadline) assert.fail(`only ${clients.receipts.size} answers`)
    await pause(5)
  }
}

function report(t: TestContext, round: number, clients: Clients): void {
  const statuses = [...clients.statuses].map(([status, count]) => `${status}: ${count}`).join(', ')
  t.diagnostic(
    `round ${round}: ${clients.receipts.size} receipt ids (${statuses}), ${clients.broken} connections failed`,
  )
}
