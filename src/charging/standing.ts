// Standing charges: what costs energy while nobody asks for anything, such as stored bytes or a cell of an account. A
// product lists its dues, page by page. Each due becomes one charge, by the same leases, journal and receipts as any
// request.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { nj, subtract, type Nj } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Charging } from './charging.ts'
import { isUnpayable } from './faults.ts'
import type { Claim, Payer } from './spend.ts'

/** The energy that an account owes for a span of time. */
export type StandingDue = {
  readonly account: string
  /** The resource that used the energy, as receipts name it. */
  readonly resource: string
  /** The cell of the resource that used the energy. */
  readonly cell?: string
  readonly energyNj: Nj
  /** The part of it that is idle power of the machine, none by default: a part of its own in the charge. */
  readonly idleNj?: Nj
  readonly fromMs: number
  readonly toMs: number
  /** These two where they differ from the product's. */
  readonly known?: EnergyBand
  readonly operation?: OperationName
}

export type StandingProduct = {
  readonly operation: OperationName
  /** The meter whose reading has the energy; the product's name where no reading shows the product alone. */
  readonly meter: string
  readonly known: EnergyBand
  /** In log lines: "stored bytes". */
  readonly name: string
}

export type StandingDeps = {
  readonly charging: Pick<Charging, 'open'>
  readonly payerOf: (account: string, resource: string) => Payer | Promise<Payer>
  readonly log: Logger
}

/** Pages whose charges may be under way while the next is looked at: charges of a page wait for one tick together. */
const PAGES_MAX = 4

/**
 * Charges all dues of `duePages`. A due that cannot be charged is logged and left to the operator. Rejects with the
 * error of `duePages`, when the charges under way have ended.
 */
export async function standing(
  deps: StandingDeps,
  product: StandingProduct,
  duePages: AsyncIterable<readonly StandingDue[]>,
): Promise<void> {
  const pages: Promise<unknown>[] = []
  try {
    for await (const dues of duePages) {
      pages.push(chargeDues(deps, product, dues))
      if (pages.length >= PAGES_MAX) await pages.shift()
    }
  } finally {
    await Promise.all(pages)
  }
}

/** Charges again and again until the signal aborts. A failed round is logged; the next round charges its minutes. */
export async function chargeAgain(
  { log }: Pick<StandingDeps, 'log'>,
  { name }: StandingProduct,
  round: {
    readonly charge: (signal: AbortSignal) => Promise<void>
    /** The delay between two rounds. */
    readonly restMs: number
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { charge, restMs, signal } = round
  while (!signal.aborted) {
    await charge(signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn(`Could not charge ${name}`, { error: messageOf(error) })
    })
    await sleep(restMs, signal).catch(() => undefined)
  }
}

/** Charges each; resolves with those that could not be charged, which are logged. */
export async function chargeDues<D extends StandingDue>(
  deps: StandingDeps,
  product: StandingProduct,
  dues: readonly D[],
): Promise<D[]> {
  const ends = await Promise.allSettled(dues.map((due) => chargeDue(deps, product, due)))
  const faults = ends.filter((end) => end.status === 'rejected')
  if (faults.length > 0)
    deps.log.warn(`A minute of ${product.name} is not charged`, {
      count: faults.length,
      error: messageOf(faults[0]?.reason),
    })
  return dues.filter((_, place) => ends[place]?.status === 'rejected')
}

/** The energy of work, then the idle part: in sum the energy of the due, to the nanojoule. */
export function claimsOf(
  { energyNj, idleNj = nj(0n) }: Pick<StandingDue, 'energyNj' | 'idleNj'>,
  source: EnergyBand & { readonly meter: string },
): readonly Claim[] {
  const upstream = { kind: 'upstream', ...source } as const
  const active: Claim = { ...upstream, energyNj: subtract(energyNj, idleNj) }
  return idleNj === 0n ? [active] : [active, { ...upstream, energyNj: idleNj, idle: true }]
}

/** Resolves when it is charged, as far as the wallet goes: what that does not cover is the operator's. */
async function chargeDue(
  { charging, payerOf }: StandingDeps,
  { operation, meter, known }: StandingProduct,
  due: StandingDue,
): Promise<void> {
  const { energyNj, fromMs, toMs, resource, cell } = due
  if (energyNj === 0n) return
  const work = charging.open({ fromMs, toMs })
  try {
    await work.admit(await payerOf(due.account, resource), due.operation ?? operation, energyNj)
    const isWhole = await work.fill()
    work.served({ resource, cell })
    for (const claim of claimsOf(due, { meter, ...(due.known ?? known) })) work.claim(claim)
    work.settle(isWhole ? 200 : 402)
  } catch (error) {
    work.drop()
    if (!isUnpayable(error)) throw error
  }
}
