// A message of the live stream: the present figures of the account, and the changes since the stream's message before.
import { timestamp } from '#base/clock.ts'
import type { Nj } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import { bandOfParts, bandOfWeight } from '#contract/ledger/known.ts'
import { LIVE_CHARGES_MAX, LIVE_RUNNING_MAX } from '#contract/live/live.ts'
import { serviceOf } from '#contract/operations.ts'
import type { LiveChargeRow } from './read-accounts.ts'
import type { LiveState, WatchedAccount } from './watched-account.ts'

/** The first status of a request that was refused or failed. */
const REFUSED = 400

/** The state that the client has. */
export type SeenByClient = {
  /** True before the first message. */
  readonly isNew: boolean
  /** The number of the newest charge; undefined: those of before the stream do not count. */
  readonly charges: string | undefined
  readonly states: WatchedAccount['states']
}

/** Facts of the gateway and of the stream. */
export type MessageFacts = {
  readonly nowMs: number
  readonly known: EnergyBand
  readonly lookingNj: Nj
}

export const liveMessageOf = (
  account: WatchedAccount,
  seen: SeenByClient,
  { nowMs, known, lookingNj }: MessageFacts,
) => ({
  at: timestamp(nowMs),
  ...(seen.isNew && { whole: true as const }),
  watts: Object.fromEntries(
    [...account.microwatts].map(([service, microwatts]) => [service, wattsOf(microwatts)]),
  ),
  ...runningIn(account),
  ...knownAs(known),
  today: todayOf(account),
  looking_nj: lookingNj.toString(),
  ...chargesSince(account, seen.charges ?? account.charges),
  ...changesSince(account.states, seen.states),
})

const todayOf = ({ day, today: { energyNj, bandWeight, ...sums } }: WatchedAccount) => ({
  day,
  requests: sums.requests,
  energy_nj: energyNj.toString(),
  measured_nj: sums.measuredNj.toString(),
  band_pct: bandWeight === undefined ? null : bandOfWeight(energyNj, bandWeight),
  carbon_pg: sums.carbonPg.toString(),
  charge_pusd: sums.chargePusd.toString(),
})

const wattsOf = (microwatts: number): number => Math.round(microwatts) / 1e6

function runningIn({ running }: WatchedAccount) {
  if (running.size === 0) return {}
  const most = [...running].toSorted(([, a], [, b]) => b - a).slice(0, LIVE_RUNNING_MAX)
  return { running: most.map(([id, microwatts]) => ({ id, watts: wattsOf(microwatts) })) }
}

function chargesSince({ charges, newest }: WatchedAccount, seen: string) {
  const since = BigInt(charges) - BigInt(seen)
  if (since <= 0n) return {}
  const rows = newest
    .filter(({ number }) => BigInt(number) > BigInt(seen) && BigInt(number) <= BigInt(charges))
    .slice(0, LIVE_CHARGES_MAX)
  const more = Number(since) - rows.length
  return { charges: rows.map(entryOf), ...(more > 0 && { charges_more: more }) }
}

const entryOf = (row: LiveChargeRow) => ({
  id: row.id,
  at: row.at.toISOString(),
  service: serviceOf(row.operation),
  operation: row.operation,
  ...(row.model !== null && { model: row.model }),
  ...(row.status >= REFUSED && { status: row.status }),
  energy_nj: row.energy,
  charge_pusd: row.charge,
  ...knownAs(bandOfParts(row.parts)),
})

const knownAs = ({ method, bandPct }: EnergyBand) => ({ method, band_pct: bandPct })

function changesSince(
  now: WatchedAccount['states'],
  before: WatchedAccount['states'],
): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const [name, state] of now) {
    const known = before.get(name)
    if (known === state) continue
    const changed = changedIn(state, known)
    if (changed.length > 0 || known === undefined)
      changes[name] = state.isList ? changed : changed[0]
  }
  return changes
}

function changedIn(state: LiveState, before: LiveState | undefined): object[] {
  const changed = [...state.entries]
    .filter(([id, text]) => before?.entries.get(id) !== text)
    .map(([, text]) => JSON.parse(text) as object)
  const gone = [...(before?.entries.keys() ?? [])]
    .filter((id) => !state.entries.has(id))
    .map((id) => ({ id, gone: true }))
  return [...changed, ...gone]
}
