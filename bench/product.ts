// The product for benches: a whole Ergon on a data folder of its own, and what its processes use.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '#base/log.ts'
import { connectState, type State } from '#state/connect.ts'
import { startErgon, type Ergon } from '../test/start-ergon.ts'
import { descendants, programOf, treeCpuUs } from './processes.ts'

const UP_MAX_MS = 60_000
// The meter, ticks and heartbeats of an idle product take less than this share of a core.
const IDLE_SHARE = 0.15
// More than any load asks for: benches are of one account.
const RATE = '10000000'
const LOOK_MS = 500
const QUIET_MAX_MS = 60_000

/** Starts it without models and waits until signers and jobs are up too. */
export async function startProduct(env: Readonly<Record<string, string>> = {}): Promise<Ergon> {
  const ergon = await startErgon({ env: { ERGON_ACCOUNT_RATE: RATE, ...env } })
  const lastMs = performance.now() + UP_MAX_MS
  while (!/everything is up|up with \d+ thing/.test(ergon.stderr())) {
    if (performance.now() > lastMs) throw new Error(`Ergon is not up:\n${ergon.stderr()}`)
    await pause(50)
  }
  return ergon
}

/** Process ids of a program below a process: 'gateway', 'signer', 'jobs', 'postgres', 'main'. */
export const pidsOf = (pid: number, program: string): number[] =>
  descendants(pid)
    .map((one) => one.pid)
    .filter((one) => programOf(one) === program)

/** Resolves when ticks and sealing have caught up: the whole tree uses next to nothing. */
export async function atRest(pid: number): Promise<void> {
  const lastMs = performance.now() + QUIET_MAX_MS
  for (let before = treeCpuUs(pid); performance.now() < lastMs;) {
    await pause(LOOK_MS)
    const now = treeCpuUs(pid)
    if (now - before < LOOK_MS * 1000 * IDLE_SHARE) return
    before = now
  }
  throw new Error('The product did not come to rest')
}

/** A connection to the product's own state. */
export function stateOf({ dataFolder, runFolder }: Ergon): State {
  const secrets = JSON.parse(readFileSync(join(dataFolder, 'secrets.json'), 'utf8')) as {
    postgres: string
  }
  return connectState({
    address: {
      host: join(runFolder, 'state/postgres'),
      user: 'postgres',
      password: secrets.postgres,
      database: 'postgres',
    },
    connections: 4,
    log: createLogger('bench', { level: 'error' }),
  })
}
