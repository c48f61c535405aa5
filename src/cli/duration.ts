// Durations on the command line: 30s, 15m, 24h, 7d.
import { CommandError, EXIT } from './output.ts'

const UNITS_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The time a duration ago; 24 hours when none is given. */
export function sinceOf(value: string | boolean | undefined): Date {
  const found = /^(\d{1,6})([smhd])$/.exec(typeof value === 'string' ? value : '24h')
  if (found === null)
    throw new CommandError(`Not a duration: "${String(value)}"`, EXIT.usage, '--since 24h')
  return new Date(Date.now() - Number(found[1]) * (UNITS_MS[found[2] ?? 'h'] ?? 0))
}
