// Durations on the command line: 30s, 15m, 24h, 7d.
import { USAGE_DAYS_MAX } from '#contract/accounts/usage-range.ts'
import { CommandError, EXIT, tell } from './output.ts'

const UNITS_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration in milliseconds; `example` is the option that would be right. */
export function durationMs(text: string, example: string): number {
  const found = /^(\d{1,6})([smhd])$/.exec(text)
  if (found === null) throw new CommandError(`Not a duration: "${text}"`, EXIT.usage, example)
  return Number(found[1]) * (UNITS_MS[found[2] ?? 'h'] ?? 0)
}

/** For the way to the service, whose clock may be ahead of ours: its sum goes up to its own now. */
const ON_THE_WAY_MS = 60_000

/** The time a duration ago, as far back as the service sums; 24 hours when none is given. */
export function sinceOf(value: string | boolean | undefined, daysMax = USAGE_DAYS_MAX): Date {
  const askedMs = durationMs(typeof value === 'string' ? value : '24h', '--since 24h')
  const mostMs = daysMax * (UNITS_MS['d'] ?? 0)
  const since = new Date(Date.now() - Math.min(askedMs, mostMs - ON_THE_WAY_MS))
  if (askedMs > mostMs) tell(`of the last ${daysMax} days, which is the most`)
  return since
}
