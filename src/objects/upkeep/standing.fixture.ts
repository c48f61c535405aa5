// A storage cell's way to charge, for tests: real looks, journal, session and leases on a real ledger. The
// time of looks is the test's; a killed cell leaves its journal, which its next life replays.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, type TimerClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { createCharging, type Charging } from '#charging/charging.ts'
import { createDisk } from '#charging/disk.ts'
import { Journal, readJournals } from '#charging/journal.ts'
import { Leases } from '#charging/leases.ts'
import { replay } from '#charging/replay.ts'
import { Session } from '#charging/session.ts'
import { parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { createPayers } from '#identity/payers.ts'
import { createLedger } from '#ledger/ledger.ts'
import { createOperatorMarks } from '#metering/marks.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { StoragePower, StoredBytes } from '#charging/stored-bytes.ts'
import { createStanding } from './standing.ts'

export const MINUTE_MS = 60_000
export const PUSD_PER_J = 69_444n
const TIMEOUT_MS = 120_000
/** Deadlines of a session last that much longer: a machine that is busy with others must not miss one. */
const PATIENCE = 60
/** Ticks and heartbeats are no deadlines. */
const TICK_MS_MAX = 300
const BEGUN_MS = Date.now()
const patientClock: TimerClock = {
  wallMs: () => BEGUN_MS + (Date.now() - BEGUN_MS) / PATIENCE,
  monotonicMs: () => performance.now() / PATIENCE,
  setTimer: (ms, fire) => systemClock.setTimer(ms > TICK_MS_MAX ? ms * PATIENCE : ms, fire),
}
const log = createLogger('test', { level: 'error' })
const TARIFF = {
  meter: 'node',
  method: 'model',
  band_pct: '40',
  nj_per_cpu_s: '3500000000',
  pue_milli: '1000',
  routed_to: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
}

/** Makes price, tariff and the accounts' energy wallets. */
export async function openBooks(state: Queryable): Promise<void> {
  await state.query(
    "insert into prices (id, pusd_per_j, free_tier_nj) values ('price_1', $1, $2)",
    [PUSD_PER_J.toString(), '500000000000000'],
  )
  await state.query("insert into tariffs (meter, body) values ('node', $1)", [
    JSON.stringify(TARIFF),
  ])
  await state.query(
    `insert into wallets (id, unit, bounded) select 'energy:' || id, 'nJ', false from accounts
     on conflict do nothing`,
  )
}

export interface TestCell {
  readonly standing: StoredBytes
  readonly charging: Charging
  /** Posts what was charged so far. */
  posted(): Promise<void>
  /** kill -9, and the next life: nothing is posted but what the journal has. */
  killed(): Promise<void>
  close(): Promise<void>
}

/** `looks` is the state whose time the test sets; the ledger's connections have their own. */
export async function openCell(deps: {
  process: string
  state: State
  looks: Queryable
  power: StoragePower
}): Promise<TestCell> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-standing-'))
  let life = await begin(deps, folder)
  const posted = async () => {
    const limit = AbortSignal.timeout(TIMEOUT_MS)
    while (life.session.pending > 0) await life.session.tickNow(limit)
  }
  return {
    get standing() {
      return life.standing
    },
    get charging() {
      return life.charging
    },
    posted,
    async killed() {
      life.session.abandon()
      await life.journal[Symbol.asyncDispose]()
      life = await begin(deps, folder)
    },
    async close() {
      await life.session.close(AbortSignal.timeout(TIMEOUT_MS))
      await life.journal[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

async function begin(deps: Parameters<typeof openCell>[0], folder: string) {
  const { process, state, looks, power } = deps
  const clock = patientClock
  const disk = createDisk(folder)
  const ledger = createLedger(state)
  const left = await replay(ledger, process, readJournals(disk), 'node')
  for (const file of left.done) disk.remove(file)
  const opened = await ledger.openSession(process, { draws: 'retention' })
  const failed = (error: unknown) => {
    throw error
  }
  const journal = new Journal({ disk, session: opened.session, clock, failed, segmentBytes: 65536 })
  const leases = new Leases(() => 0n)
  const session: Session = new Session({
    ledger,
    journal,
    leases,
    clock,
    log,
    meter: 'node',
    opened,
    forget: () => undefined,
    lost: failed,
    ticked: () => undefined,
  })
  const charging = createCharging({ session, leases, marks: createOperatorMarks(), clock })
  await session.tickNow(AbortSignal.timeout(TIMEOUT_MS))
  const { payerOf } = createPayers({ state, clock })
  const standing = createStanding({
    retentionDays: 7,
    state: looks,
    charging,
    payerOf,
    clock,
    log,
    power,
    minuteMs: MINUTE_MS,
  })
  return { session, journal, charging, standing }
}

/** Every standing charge of the ledger, in its order. */
export async function standingCharges(state: Queryable): Promise<Charge[]> {
  const { rows } = await state.query<{ bytes: Buffer }>(
    "select bytes from charges where operation = 'storage.standing' order by leaf_index",
  )
  return rows.map(({ bytes }) => parseCharge(bytes))
}
