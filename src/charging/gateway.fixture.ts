// The charging of one gateway for tests: real session, journal, leases and marks, on a ledger and a disk
// in memory. The ledger grants whatever is wanted, up to a million joules.
import { systemClock, type TimerClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { parseCharge, type Charge } from '#contract/ledger/charge.ts'
import type { Ledger, TickInput } from '#ledger/tick.ts'
import { createMarks } from '#metering/marks.ts'
import { createCharging, type Charging } from './charging.ts'
import type { Disk } from './disk.ts'
import { Journal } from './journal.ts'
import { Leases } from './leases.ts'
import { Session } from './session.ts'
import type { Payer } from './spend.ts'
import type { TariffBody } from './tariff.ts'

export const S = 1_000_000_000n
export const FREE_PAYER: Payer = { account: 'acct_a', env: 'test', funded: false }
const ASKED_LEAST_NJ = nj(500n * S)
const GRANT_MAX = 1_000_000n * S
const SEGMENT_BYTES = 1024 * 1024

export type TestGateway = AsyncDisposable & {
  readonly charging: Charging
  readonly session: Session
  /** Everything that the ledger has. */
  readonly charges: Charge[]
  /** CPU time of the process, as marks read it. */
  readonly process: { cpuNs: number }
  /** The bytes of the journal that would survive a power cut. */
  durable(): Buffer
  /** The tariff of the ledger from the next tick on. */
  setTariff(njPerCpuS: bigint, njPerGpuS?: bigint): Promise<void>
}

export type TestGatewayOptions = {
  /** The disk waits for it at each sync (default: no wait). */
  readonly synced?: () => Promise<void>
  /** `journal=sync`: replies wait for the disk. */
  readonly sync?: boolean
  /** Told of an error of the disk; without it the test ends. */
  readonly failed?: (error: unknown) => void
  /** The ledger waits for it at each tick (default: no wait). */
  readonly answered?: () => Promise<void>
  readonly clock?: TimerClock
}

export async function startTestGateway({
  synced,
  sync = false,
  failed,
  answered = async () => undefined,
  clock = systemClock,
}: TestGatewayOptions = {}): Promise<TestGateway> {
  const charges: Charge[] = []
  let tariff = tariffBody(0n)
  const granting = grantingLedger(charges, () => tariff)
  const ledger: Ledger = {
    ...granting,
    async tick(input) {
      await answered()
      return await granting.tick(input)
    },
  }
  const fail = (error: unknown) => {
    throw error
  }
  const { disk, durable } = createMemoryDisk(synced)
  const journal = new Journal({
    clock,
    disk,
    session: 'gw-1.1',
    failed: failed ?? fail,
    segmentBytes: SEGMENT_BYTES,
    sync,
  })
  const leases = new Leases(() => ASKED_LEAST_NJ)
  const session = new Session({
    ledger,
    journal,
    leases,
    clock,
    log: createLogger('test', { level: 'error' }),
    meter: 'node',
    opened: { session: 'gw-1.1', epoch: 0n },
    forget: () => undefined,
    lost: fail,
    ticked: () => undefined,
  })
  const process = { cpuNs: 0 }
  const marks = createMarks({ cpuNs: () => process.cpuNs, wallNs: () => process.cpuNs })
  return {
    charging: createCharging({ session, leases, marks, clock }),
    session,
    charges,
    process,
    durable: () => Buffer.concat([...durable.values()]),
    async setTariff(njPerCpuS, njPerGpuS) {
      tariff = tariffBody(njPerCpuS, njPerGpuS)
      await session.tickNow(AbortSignal.timeout(60_000))
    },
    async [Symbol.asyncDispose]() {
      await session.close(AbortSignal.timeout(60_000))
      await journal[Symbol.asyncDispose]()
    },
  }
}

/** A ledger that grants what is wanted, up to GRANT_MAX, and keeps the charges. */
const grantingLedger = (
  charges: Charge[],
  tariff: () => TariffBody,
  posted = { seq: 0n },
): Ledger => ({
  openSession: async (process) => ({ session: `${process}.1`, epoch: 0n }),
  openSessionOf: async () => undefined,
  findSession: async () => undefined,
  alarm: async () => undefined,
  lose: async () => undefined,
  posted: async () => new Set(),
  closeSession: async () => undefined,
  tick: async (input) => {
    charges.push(...chargesOf(input))
    posted.seq = input.records.at(-1)?.seq ?? posted.seq
    return {
      grants: input.wants.map(({ wallet, amount }) => ({
        want: wallet,
        wallet,
        amount: amount < GRANT_MAX ? amount : GRANT_MAX,
        dry: amount > GRANT_MAX,
        elsewhere: false,
      })),
      recalls: [],
      lastSeq: posted.seq,
      epoch: 0n,
      changes: [],
      price: { id: 'price-1', pusdPerJ: 69_444n },
      tariff: tariff(),
      halted: false,
    }
  },
})

const chargesOf = (input: TickInput): Charge[] =>
  input.records
    .filter((record) => record.kind === 'charge')
    .map((record) => parseCharge(record.bytes))

const tariffBody = (njPerCpuS: bigint, njPerGpuS?: bigint): TariffBody => ({
  meter: 'node',
  method: 'model',
  band_pct: '40',
  nj_per_cpu_s: njPerCpuS.toString(),
  pue_milli: '1000',
  routed_to: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 'test', year: '2024', basis: 'assumed' },
  ...(njPerGpuS === undefined
    ? {}
    : {
        gpu: {
          meter: 'node:gpu',
          method: 'nvml',
          band_pct: '7',
          nj_per_gpu_s: njPerGpuS.toString(),
        },
      }),
})

function createMemoryDisk(synced: () => Promise<void> = async () => undefined) {
  const files = new Map<string, Buffer>()
  const durable = new Map<string, Buffer>()
  const disk: Disk = {
    list: () => [...files.keys()].toSorted(),
    read: (name) => files.get(name) ?? Buffer.alloc(0),
    create(name, head, size) {
      const bytes = Buffer.alloc(size)
      bytes.set(head)
      files.set(name, bytes)
      return {
        name,
        write: (written, position) => bytes.set(written, position),
        async sync() {
          await synced()
          durable.set(name, Buffer.from(bytes))
        },
        close: () => undefined,
      }
    },
    remove: (name) => void files.delete(name),
    rename(name, to) {
      files.set(to, files.get(name) ?? Buffer.alloc(0))
      files.delete(name)
    },
  }
  return { disk, durable }
}
