// An account with a live stream: the sums of its day, its newest charges, its states and its power.
import type { LiveChargeRow, DaySums, ReadAccount } from './read-accounts.ts'

/** A state by name: its text, and its entries as JSON by id. An object is one entry without an id. */
export type LiveState = {
  readonly text: string | null
  readonly entries: ReadonlyMap<string, string>
  readonly isList: boolean
}

export type WatchedAccount = {
  readonly account: string
  /** The day of UTC of the sums. */
  readonly day: string
  /** The number of the newest charge that is counted. */
  readonly charges: string
  /** The number of the newest event at the reading. */
  readonly events: string
  readonly isDeleting: boolean
  readonly today: DaySums
  /** The sums of charges that are counted and end after the day. */
  readonly later: DaySums
  /** The newest charges, the newest first. */
  readonly newest: readonly LiveChargeRow[]
  readonly states: ReadonlyMap<string, LiveState>
  /** Mean power of the last second by service, in microwatts. */
  readonly microwatts: ReadonlyMap<string, number>
  /** That of its cells in the last window, by the id of their resource. */
  readonly running: ReadonlyMap<string, number>
}

export const addSums = (a: DaySums, b: DaySums): DaySums => ({
  requests: a.requests + b.requests,
  energyNj: a.energyNj + b.energyNj,
  carbonPg: a.carbonPg + b.carbonPg,
  chargePusd: a.chargePusd + b.chargePusd,
  measuredNj: a.measuredNj + b.measuredNj,
  bandWeight:
    a.bandWeight === undefined || b.bandWeight === undefined
      ? undefined
      : a.bandWeight + b.bandWeight,
})

/** A text that has not changed is not parsed again. */
export const statesOf = (
  { states }: ReadAccount,
  before: WatchedAccount['states'] | undefined,
): WatchedAccount['states'] =>
  new Map(
    Object.entries(states).map(([name, text]) => {
      const known = before?.get(name)
      return [name, known?.text === text ? known : stateOf(text)]
    }),
  )

function stateOf(text: string | null): LiveState {
  const value = JSON.parse(text ?? '[]') as object
  const list = Array.isArray(value) ? (value as readonly { readonly id: string }[]) : [value]
  const entries = list.map((one) => [idOf(one), JSON.stringify(one)] as const)
  return { text, entries: new Map(entries), isList: Array.isArray(value) }
}

const idOf = (one: object): string => ('id' in one ? String(one.id) : '')
