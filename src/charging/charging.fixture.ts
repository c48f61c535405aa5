// Charging over the ledger's model, with a journal on disk: all real but PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, type TimerClock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { createLogger } from '#base/log.ts'
import { nj, priceCeiling, type Nj } from '#base/units.ts'
import { addAccount, newBooks, type Books } from '#ledger/reference/books.ts'
import { grantFunds } from '#ledger/reference/funds.ts'
import { createReferenceLedger } from '#ledger/reference-ledger.fixture.ts'
import type { Ledger, ReserveKind } from '#ledger/tick.ts'
import { createMarks } from '#metering/marks.ts'
import { createCharging, type Charging } from './charging.ts'
import { createDisk } from './disk.ts'
import { Journal } from './journal.ts'
import { Leases } from './leases.ts'
import { Session } from './session.ts'
import type { Payer } from './spend.ts'

export const NJ_PER_CPU_S = 3_500_000_000n
export const PUSD_PER_J = 69_444n
const LEASE_LEAST_NJ = nj(500_000_000n)
const TARIFF = {
  meter: 'm1',
  method: 'model',
  band_pct: '30',
  nj_per_cpu_s: NJ_PER_CPU_S.toString(),
  pue_milli: '1000',
  routed_to: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
}

export type TestCharging = AsyncDisposable & {
  readonly books: Books
  readonly charging: Charging
  readonly session: Session
  readonly leases: Leases
  readonly journal: Journal
  /** The process has used so much more CPU. */
  spendCpu(ns: number): void
  /** The ledger answers. */
  answers: boolean
  /** An account with money, or on the free tier. */
  payer(account: string, pusd?: bigint): Payer
}

type TestChargingOptions = {
  /** Another process of the same ledger. */
  readonly beside?: TestCharging
  /** The most that work holds beyond its use. */
  readonly aheadNj?: Nj | undefined
  /** The reserves that the process draws on. */
  readonly draws?: ReserveKind
  /** The time of the ledger. */
  readonly nowMs?: () => number
}

const failed = (error: unknown): void => {
  throw error
}

export async function openTestCharging(
  freeTierNj = 10_000_000_000n,
  clock: TimerClock = systemClock,
  lost: (error: unknown) => void = failed,
  { beside, aheadNj, draws, nowMs = () => Date.now() }: TestChargingOptions = {},
): Promise<TestCharging> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-charging-'))
  const books = beside?.books ?? newBooks({ id: 'price_1', pusdPerJ: PUSD_PER_J, freeTierNj })
  books.tariffs.set('m1', TARIFF)
  const test = { answers: true }
  const model = createReferenceLedger(books, nowMs)
  const ledger: Ledger = {
    ...model,
    async tick(input) {
      if (!test.answers) throw new ErgonError({ code: '08006', status: 503 }, 'Not connected')
      return await model.tick(input)
    },
  }
  const opened = await ledger.openSession(`gw-${books.sessions.size + 1}`, { draws })
  const disk = createDisk(folder)
  const journal = new Journal({ disk, session: opened.session, clock, failed, segmentBytes: 65536 })
  const leases: Leases = new Leases((want) =>
    want.startsWith('money:') ? priceCeiling(LEASE_LEAST_NJ, PUSD_PER_J) : LEASE_LEAST_NJ,
  )
  let cpuNs = 0
  const marks = createMarks({ cpuNs: () => cpuNs, wallNs: () => cpuNs })
  const session: Session = new Session({
    ledger,
    journal,
    leases,
    clock,
    log: createLogger('test', { level: 'error', write: () => {} }),
    meter: 'm1',
    opened,
    forget: (changes) => changes.forEach((change) => charging.revoke(change)),
    lost,
    ticked: () => charging.ticked(),
  })
  const charging: Charging = createCharging({ session, leases, marks, clock, aheadNj })
  await session.tickNow(AbortSignal.timeout(60_000))
  return Object.assign(test, {
    books,
    charging,
    session,
    leases,
    journal,
    spendCpu: (ns: number) => {
      cpuNs += ns
    },
    payer(account: string, pusd?: bigint): Payer {
      addAccount(books, account, 'live', 0n)
      if (pusd !== undefined && pusd > 0n) {
        const lot = { account, amount: pusd, kind: 'funds', priority: 50, transferKind: 'top_up' }
        grantFunds(books, lot, Date.now())
      }
      return { account, token: `tok_${account}`, env: 'live', funded: pusd !== undefined }
    },
    async [Symbol.asyncDispose]() {
      test.answers = true
      await session.close(AbortSignal.timeout(60_000))
      await journal[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  })
}
