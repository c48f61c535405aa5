// Energy that all gateways and proxies of a node have billed by tariff since its start, and the operations. The meter is
// compared with it, and the agent learns from it which CPU operations cause elsewhere.
import { nj } from '#base/units.ts'
import type { Charging } from '#charging/charging.ts'
import { addActivity, NO_ACTIVITY, type Activity, type OperationUsage } from '#metering/indirect.ts'
import { isUnit } from '#metering/indirect-part.ts'
import {
  addBilled,
  addByCell,
  NOTHING_BILLED,
  type Billed,
  type BilledByCell,
} from '#metering/true-up.ts'
import { askCells, type AskCellsDeps } from './ask-cells.ts'

/** The bill of one life of a gateway. */
export type GatewayBill = Billed & {
  readonly session: string
  readonly activity: Activity
  /** The time of steps on the GPU, and its energy, by cell. */
  readonly gpu: BilledByCell
}

/** The page of a gateway's inside that says so. */
export const BILLED_PAGE = '/billed'

type BilledTexts = 'session' | 'chargedNs' | 'accruedNj' | 'rateNs' | 'indirectNs' | 'aheadNs'
type BilledPage = Readonly<Record<BilledTexts, string>> & {
  readonly gpu: Readonly<Record<string, { readonly ns: string; readonly nj: string }>>
  readonly activeSeconds: number
  readonly operations: Readonly<Record<string, OperationUsage>>
}

export function billedPage(
  session: string,
  charging: Pick<Charging, 'billed' | 'billedGpu' | 'activity'>,
): BilledPage {
  const { chargedNs, accruedNj } = charging.billed()
  const { operations, activeSeconds, ...activity } = charging.activity
  return {
    session,
    chargedNs: String(chargedNs),
    accruedNj: String(accruedNj),
    gpu: Object.fromEntries(
      [...charging.billedGpu()].map(([cell, billed]) => [
        cell,
        { ns: String(billed.chargedNs), nj: String(billed.accruedNj) },
      ]),
    ),
    rateNs: String(activity.rateNs),
    indirectNs: String(activity.indirectNs),
    aheadNs: String(activity.aheadNs),
    activeSeconds,
    operations: Object.fromEntries(operations),
  }
}

export interface Bills {
  /** The newest figures of the gateway in a cell. */
  take(cell: string, bill: GatewayBill): void
  /** Divides the credit anew, by the requests that were settled since the call before; cells that are not named get none. */
  divide(cells: ReadonlySet<string>): void
  /** The sum over all lives of all gateways; it never falls. */
  total(): Billed
  /** The same of the GPU. */
  totalGpu(): BilledByCell
  /** The same of settled requests. */
  activity(): Activity
  /**
   * The totals of indirect CPU that each session may have billed behind the windows, when all together may bill `creditNs`
   * more. With a debt they are below its totals, and below zero in a session that billed nothing else.
   */
  allowedNs(creditNs: number): Record<string, number>
  /** The newest totals of sessions that were billed ahead of the windows: the next window has that CPU. */
  seenAheadNs(): Record<string, number>
}

/** Shares are of the last two windows with requests, about, as the credit is. */
const DECAY = 2

/** A life that ended keeps its last figures: the next one of its cell counts from zero. */
export function createBills(): Bills {
  const lives = new Map<string, GatewayBill>()
  /** Settled requests of sessions: at the division before, and of the last windows. */
  let recent = new Map<string, { readonly settled: number; readonly weight: number }>()
  let ended = NOTHING_BILLED
  const endedGpu = new Map<string, Billed>()
  let endedActivity = NO_ACTIVITY
  return {
    take(cell, bill) {
      const before = lives.get(cell)
      if (before !== undefined && before.session !== bill.session) {
        ended = addBilled(ended, before)
        addByCell(endedGpu, before.gpu)
        endedActivity = addActivity(endedActivity, before.activity)
      }
      lives.set(cell, bill)
    },
    total: () => lives.values().reduce(addBilled, ended),
    totalGpu() {
      const totals = new Map(endedGpu)
      for (const { gpu } of lives.values()) addByCell(totals, gpu)
      return totals
    },
    divide(cells) {
      const present = [...lives].filter(([cell]) => cells.has(cell)).map(([, bill]) => bill)
      const news = present.map(({ session, activity }) => {
        const settled = payingRequests(activity)
        const before = recent.get(session) ?? { settled: 0, weight: 0 }
        return { session, settled, weight: before.weight, more: settled - before.settled }
      })
      // At rest the shares stay.
      const kept = news.some(({ more }) => more > 0) ? 1 - 1 / DECAY : 1
      recent = new Map(
        news.map(({ session, settled, weight, more }) => [
          session,
          { settled, weight: weight * kept + more },
        ]),
      )
    },
    allowedNs(creditNs) {
      const all = recent.values().reduce((sum, { weight }) => sum + weight, 0)
      return Object.fromEntries(
        [...lives.values()].map(({ session, activity }) => {
          const { weight = 0 } = recent.get(session) ?? {}
          const shareNs = weight === 0 ? 0 : Math.floor((creditNs * weight) / all)
          const seenNs = Number(activity.indirectNs - activity.aheadNs)
          // Each session has the whole debt: until that is made up for, units are not billed ahead.
          return [session, seenNs + (creditNs < 0 ? creditNs : shareNs)]
        }),
      )
    },
    seenAheadNs: () =>
      Object.fromEntries(
        [...lives.values()].map(({ session, activity }) => [session, Number(activity.aheadNs)]),
      ),
    activity: () =>
      lives.values().reduce((sum, { activity }) => addActivity(sum, activity), endedActivity),
  }
}

/** Requests that somebody pays, without units of work: these are billed ahead of the credit. */
const payingRequests = ({ operations }: Activity): number =>
  operations
    .entries()
    .filter(([name]) => name !== 'service.nobody' && !isUnit(name))
    .reduce((sum, [, { requests }]) => sum + requests, 0)

/** Asks every cell that bills; the last figures of a silent cell stay. */
export async function askGateways({
  bills,
  ...deps
}: AskCellsDeps & { readonly bills: Bills }): Promise<void> {
  const gateways = await askCells(deps, {
    page: BILLED_PAGE,
    isOn: ({ bills: doesBill }) => doesBill === true,
    async take({ spec }, answer) {
      const answered = await answer()
      // A process that has billed nothing yet.
      if (answered !== null) bills.take(spec.name, billOf(answered))
    },
  })
  bills.divide(new Set(gateways.map(({ spec }) => spec.name)))
}

function billOf(answer: unknown): GatewayBill {
  const { session, chargedNs, accruedNj, gpu, activeSeconds, operations, ...page } =
    answer as BilledPage
  return {
    session,
    chargedNs: BigInt(chargedNs),
    accruedNj: nj(BigInt(accruedNj)),
    gpu: new Map(
      Object.entries(gpu).map(([cell, billed]) => [
        cell,
        { chargedNs: BigInt(billed.ns), accruedNj: nj(BigInt(billed.nj)) },
      ]),
    ),
    activity: {
      operations: new Map(Object.entries(operations)),
      activeSeconds,
      rateNs: BigInt(page.rateNs),
      indirectNs: BigInt(page.indirectNs),
      aheadNs: BigInt(page.aheadNs),
    },
  }
}
