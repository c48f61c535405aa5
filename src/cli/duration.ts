// Durations on the command line: 30s, 15m, 24h, 7d.
import { CommandError, EXIT } from './output.ts'

const UNITS_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration in milliseconds; `example` is the option that would be right. */
export function durationMs(text: string, example: string): number {
  const found = /^(\d{1,6})([smhd])$/.exec(text)
  if (found === null) throw new CommandError(`Not a duration: "${text}"`, EXIT.usage, example)
  return Number(found[1]) * (UNITS_MS[found[2] ?? 'h'] ?? 0)
}

/** The time a duration ago; 24 hours when none is given. */
export const sinceOf = (value: string | boolean | undefined): Date =>
  new Date(Date.now() - durationMs(typeof value === 'string' ? value : '24h', '--since 24h'))
