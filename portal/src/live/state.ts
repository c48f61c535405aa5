// The live state of the console, and its change by a message. Pure: the stream is in stream.ts.
import { figureOfSums, howOf, type Figure, type How } from '#console/figures/known.ts'
import type { LiveMessage } from '#contract/live/live.ts'

type Entry<List extends 'budgets' | 'resources' | 'webhooks'> = Exclude<
  NonNullable<LiveMessage[List]>[number],
  { readonly gone: true }
>
export type LiveCharge = NonNullable<LiveMessage['charges']>[number]
type LiveBudget = Entry<'budgets'>
type LiveResource = Entry<'resources'>
type LiveWebhook = Entry<'webhooks'>

/** Power in nanojoules a second, by service and together. */
export type Power = { readonly total: bigint; readonly by: Readonly<Record<string, bigint>> }
/** The power at a moment, for the chart of the last minutes. */
export type PowerPoint = { readonly atMs: number; readonly by: Readonly<Record<string, bigint>> }
/** Cost of the stream until a moment, in nanojoules. */
type Look = { readonly atMs: number; readonly nj: bigint }
export type Today = {
  readonly day: string
  readonly requests: number
  readonly figure: Figure
  readonly pg: bigint
  readonly pusd: bigint
}
export type LiveState = {
  /** `waiting` until the first message; `offline` while the stream is broken. */
  readonly status: 'waiting' | 'live' | 'offline'
  /** The time of the last message. */
  readonly at: Date | undefined
  readonly power: Power | undefined
  /** Of it, the power of databases, functions and workloads that run, by id; a message has the ten with most. */
  readonly running: ReadonlyMap<string, bigint>
  /** Method and band of the power: those of the node's meter. */
  readonly meter: How | undefined
  readonly history: readonly PowerPoint[]
  readonly today: Today | undefined
  /** Cost of the stream at its messages of the last minute; a new stream begins at nothing again. */
  readonly looks: readonly Look[]
  /** Nanojoules of a second of looking, by the last minute: the first readings of a stream cost more. */
  readonly watchingNj: bigint | undefined
  readonly charges: readonly LiveCharge[]
  /** Charges that the stream counted and did not tell, since the page was opened. */
  readonly missedCount: number
  readonly balance: LiveMessage['balance']
  readonly budgets: ReadonlyMap<string, LiveBudget>
  readonly resources: ReadonlyMap<string, LiveResource>
  readonly webhooks: ReadonlyMap<string, LiveWebhook>
}

export const NOTHING: LiveState = {
  status: 'waiting',
  at: undefined,
  power: undefined,
  running: new Map(),
  meter: undefined,
  history: [],
  today: undefined,
  looks: [],
  watchingNj: undefined,
  charges: [],
  missedCount: 0,
  balance: undefined,
  budgets: new Map(),
  resources: new Map(),
  webhooks: new Map(),
}

/** Fifteen minutes of seconds. */
const HISTORY_MAX = 900
const CHARGES_MAX = 200
const LOOKS_MS = 60_000
/** A shorter time says little of a second: an account at rest is read each six. */
const LOOKS_MS_MIN = 10_000
const NJ_PER_J = 1e9

/** The state after a message. Figures are replaced, never added up here: the API's integer is the only one. */
export function after(state: LiveState, message: LiveMessage): LiveState {
  const power = powerOf(message.watts)
  const at = new Date(message.at)
  const charges = message.charges ?? []
  const isWhole = message.whole === true
  const looks = looksAfter(isWhole ? [] : state.looks, {
    atMs: at.getTime(),
    nj: BigInt(message.looking_nj),
  })
  return {
    status: 'live',
    at,
    power,
    running: new Map(message.running?.map(({ id, watts }) => [id, njPerS(watts)])),
    meter: howOf(message),
    history: [...state.history, { atMs: at.getTime(), by: power.by }].slice(-HISTORY_MAX),
    today: {
      day: message.today.day,
      requests: message.today.requests,
      figure: figureOfSums([message.today]),
      pg: BigInt(message.today.carbon_pg),
      pusd: BigInt(message.today.charge_pusd),
    },
    looks,
    watchingNj: priceOf(looks) ?? state.watchingNj,
    charges: newestFirst(charges, state.charges),
    missedCount: state.missedCount + (message.charges_more ?? 0),
    balance: message.balance ?? state.balance,
    budgets: merged<LiveBudget>(isWhole ? NOTHING.budgets : state.budgets, message.budgets),
    resources: merged<LiveResource>(
      isWhole ? NOTHING.resources : state.resources,
      message.resources,
    ),
    webhooks: merged<LiveWebhook>(isWhole ? NOTHING.webhooks : state.webhooks, message.webhooks),
  }
}

function looksAfter(before: readonly Look[], now: Look): readonly Look[] {
  // None is later than now, but where the clock of the server was set back.
  const isOfMinute = ({ atMs }: Look) => atMs <= now.atMs && now.atMs - atMs <= LOOKS_MS
  return [...before.filter(isOfMinute), now]
}

function priceOf(looks: readonly Look[]): bigint | undefined {
  const [first, last] = [looks[0], looks.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const elapsedMs = last.atMs - first.atMs
  return elapsedMs < LOOKS_MS_MIN ? undefined : ((last.nj - first.nj) * 1000n) / BigInt(elapsedMs)
}

/** A resumed stream may tell a charge again. */
function newestFirst(fresh: readonly LiveCharge[], known: readonly LiveCharge[]) {
  if (fresh.length === 0) return known
  const ids = new Set(fresh.map(({ id }) => id))
  return [...fresh, ...known.filter(({ id }) => !ids.has(id))].slice(0, CHARGES_MAX)
}

const njPerS = (watts: number): bigint => BigInt(Math.round(watts * NJ_PER_J))

/** Watts come as numbers; the total is the sum of what the board shows, so that its circuits add up. */
function powerOf(watts: Readonly<Record<string, number>>): Power {
  const by = Object.fromEntries(
    Object.entries(watts).map(([service, value]) => [service, njPerS(value)]),
  )
  return { by, total: Object.values(by).reduce((sum, nj) => sum + nj, 0n) }
}

function merged<Fields extends { readonly id: string }>(
  known: ReadonlyMap<string, Fields>,
  changes: readonly (Fields | { readonly id: string; readonly gone: true })[] | undefined,
): ReadonlyMap<string, Fields> {
  if (changes === undefined) return known
  const next = new Map(known)
  for (const entry of changes)
    if ('gone' in entry) next.delete(entry.id)
    else next.set(entry.id, entry)
  return next
}
