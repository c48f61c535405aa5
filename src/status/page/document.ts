// The content of the status page as data: the source of status.json, the page and the feed.
import { RATE_HOURS, RATE_REQUESTS_LEAST } from '#contract/accounts/error-rate-limits.ts'
import { timestamp } from '#base/clock.ts'
import type { StateFacts } from './facts.ts'
import type { PublicIncident } from '#status/incident-columns.ts'
import { measuredSeconds, shownDays, stateOfDay, upPercent, type StatusHistory } from './history.ts'
import { worst, type PartMeasure } from './measure.ts'
import { INFERENCE_PART, modelPart, PARTS } from './parts.ts'

/** Null: not measured. */
type ShownState = Exclude<PartMeasure, undefined> | null

export type ShownPart = {
  readonly id: string
  readonly name: string
  /** The part that it belongs to, such as that of a model. */
  readonly within: string | null
  readonly state: ShownState
  /** When this state was first measured; null while it is not measured. */
  readonly since: string | null
  /** Of the measured time in which it was not down; null while it is not measured. */
  readonly up_percent: string | null
  /** Of these 90 days, the time in which it was measured. */
  readonly measured_seconds: number
  /** The oldest day first. */
  readonly days: readonly { readonly day: string; readonly state: ShownState }[]
}
type ShownRegion = { readonly name: string; readonly state: 'ok' | 'degraded' }
export type ShownRate = {
  readonly public_name: string
  /** Rounded down to 1, 2 or 5 times a power of ten. */
  readonly requests_at_least: number
  readonly failed_percent: string
}
export type StatusDocument = {
  readonly written_at: string
  /** When the state last answered: incidents, models and error rates are as of then. Null before the first answer. */
  readonly state_answered_at: string | null
  readonly period_seconds: number
  readonly verdict: { readonly state: ShownState; readonly text: string }
  readonly parts: readonly ShownPart[]
  readonly regions: readonly ShownRegion[]
  readonly incidents: readonly PublicIncident[]
  readonly error_rates: {
    readonly hours: number
    readonly requests_least: number
    readonly accounts: readonly ShownRate[]
  }
}

/** The knowledge after a measurement; kept on disk, so that it outlives this process and the state. */
export type KnownStatus = {
  readonly history: StatusHistory
  readonly facts: StateFacts | null
  readonly factsAtMs: number
}

/** The document of a moment. */
export function statusDocument(
  { history, facts, factsAtMs }: KnownStatus,
  {
    nowMs,
    periodMs,
    ownRegion,
  }: { readonly nowMs: number; readonly periodMs: number; readonly ownRegion: string },
): StatusDocument {
  const parts = shownParts(history, facts, nowMs)
  const incidents = facts?.incidents ?? []
  return {
    written_at: timestamp(nowMs),
    state_answered_at: factsAtMs === 0 ? null : timestamp(factsAtMs),
    period_seconds: periodMs / 1000,
    verdict: verdictOf(parts, incidents),
    parts,
    regions: regionsOf([ownRegion, ...(facts?.regions ?? [])], incidents),
    incidents,
    error_rates: {
      hours: RATE_HOURS,
      requests_least: RATE_REQUESTS_LEAST,
      accounts: (facts?.rates ?? []).map(({ name, requests, failures }) => ({
        public_name: name,
        requests_at_least: roundedDown(requests),
        failed_percent: percentOf(failures, requests),
      })),
    },
  }
}

function shownParts(history: StatusHistory, facts: StateFacts | null, nowMs: number): ShownPart[] {
  const days = shownDays(nowMs)
  const shown = (id: string, name: string, within: string | null): ShownPart => {
    const part = history.parts[id]
    return {
      id,
      name,
      within,
      state: part?.state ?? null,
      since:
        part?.state === undefined || part.sinceMs === undefined ? null : timestamp(part.sinceMs),
      up_percent: part?.state === undefined ? null : (upPercent(part) ?? null),
      measured_seconds: part === undefined ? 0 : Math.floor(measuredSeconds(part)),
      days: days.map((day) => ({ day, state: stateOfDay(part?.days[day]) ?? null })),
    }
  }
  return PARTS.flatMap(({ id, name }) => [
    shown(id, name, null),
    ...(id === INFERENCE_PART ? (facts?.models ?? []) : []).map((model) =>
      shown(modelPart(model.id), model.id, INFERENCE_PART),
    ),
  ])
}

/** One sentence: the worst first, by name. */
function verdictOf(
  all: readonly ShownPart[],
  incidents: readonly PublicIncident[],
): StatusDocument['verdict'] {
  const parts = all.filter(({ within }) => within === null)
  const state = worst(parts.map((part) => part.state ?? undefined)) ?? null
  const named = (wanted: ShownState) =>
    parts.filter((part) => part.state === wanted).map(({ name }) => name)
  const open = incidents.filter(({ ended_at: endedAt }) => endedAt === null)
  if (state === null) return { state, text: 'Nothing is measured yet' }
  if (state === 'down') return { state, text: sentence(named(state), 'down') }
  if (open.length > 0)
    return {
      state: 'degraded',
      text: sentence([...new Set(open.map(({ region }) => `Region ${region}`))], 'degraded'),
    }
  if (state === 'degraded') return { state, text: sentence(named(state), 'degraded') }
  return {
    state,
    text: parts.every((part) => part.state === 'ok')
      ? 'All parts are working'
      : 'All measured parts are working',
  }
}

const sentence = (names: readonly string[], state: string): string => {
  const last = names.at(-1) ?? ''
  const list = names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
  return `${list} ${names.length < 2 ? 'is' : 'are'} ${state}`
}

function regionsOf(names: readonly string[], incidents: readonly PublicIncident[]): ShownRegion[] {
  const troubled = new Set(
    incidents.filter(({ ended_at: endedAt }) => endedAt === null).map(({ region }) => region),
  )
  return [...new Set(names)].map((name) => ({
    name,
    state: troubled.has(name) ? 'degraded' : 'ok',
  }))
}

/** The greatest of 1, 2 and 5 times a power of ten that is not above: an exact count would say whose it is. */
function roundedDown(count: number): number {
  const power = 10 ** Math.floor(Math.log10(count))
  return Math.max(...[1, 2, 5].map((step) => step * power).filter((one) => one <= count))
}

/** Two digits behind the point below 1 %, one below 10 %, none above; failures are never rounded to 0. */
function percentOf(failures: number, requests: number): string {
  const percent = (100 * failures) / requests
  if (failures > 0 && percent < 0.01) return '0.01'
  return percent.toFixed(percent < 1 ? 2 : percent < 10 ? 1 : 0)
}
