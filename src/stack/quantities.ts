// Fields with units: energy, memory, time, processors, schedules.
import { energyPerDay } from '#contract/energy-budget.ts'
import { bytesOfSize, type SizeRange } from '#contract/sizes.ts'
import { asNumber } from '#hcl/values/value.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import { parsedField, type StackField } from './field.ts'

export const energyBudgetField = parsedField(
  {
    help: 'The most energy of a day of UTC, in J, kJ, MJ, Wh or kWh. At 80 % there is a warning; at 100 % the resource is suspended until the next day',
    expected: 'an energy for a day in J, kJ, MJ, Wh or kWh, from 10 J/day, such as "250 kJ/day"',
  },
  energyPerDay,
)

/** A size in bytes. */
export const sizeField = (help: string, range: SizeRange): StackField<number> =>
  parsedField(
    {
      help,
      expected: `a size from ${range.least} to ${range.most} in kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as "256MB"`,
    },
    (text) => bytesOfSize(text, range),
  )

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const DURATION = /^(\d{1,7}) ?(ms|s|m|h)$/

/** A duration in milliseconds. */
export const durationField = (help: string, least: string, most: string): StackField<number> =>
  parsedField(
    { help, expected: `a duration from ${least} to ${most} in ms, s, m or h, such as "10s"` },
    (text) => {
      const ms = msOf(text)
      const [low, high] = [msOf(least), msOf(most)]
      if (ms === undefined || low === undefined || high === undefined) return undefined
      return ms >= low && ms <= high ? ms : undefined
    },
  )

function msOf(text: string): number | undefined {
  const [, figure, unit] = DURATION.exec(text) ?? []
  if (figure === undefined || unit === undefined) return undefined
  return Number(figure) * MS[unit as keyof typeof MS]
}

const MILLI = Numeric.of(1000)
const MILLICORES = { least: 50, most: 64_000 }

/** Processors in thousandths. */
export const cpuField: StackField<number> = {
  help: 'Processors that an instance may use at once: 0.5 is half of one',
  expected: 'a number of processors from 0.05 to 64 in steps of 0.001, such as 0.5',
  read: (value) => {
    const milli = asNumber(value)?.times(MILLI).toInteger()
    return milli !== undefined && milli >= MILLICORES.least && milli <= MILLICORES.most
      ? milli
      : undefined
  },
}

/** Least and most of minute, hour, day of the month, month, day of the week. */
const CRON_FIELDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
const CRON_PART = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/

export const scheduleField = parsedField(
  {
    help: 'When it runs, as cron writes it, in UTC',
    expected:
      'five fields of cron: minute, hour, day, month, day of the week, such as "*/5 * * * *"',
  },
  (text) => {
    const fields = text.split(' ')
    const isValid =
      fields.length === CRON_FIELDS.length &&
      fields.every((field, index) => field.split(',').every((part) => isCronPart(part, index)))
    return isValid ? text : undefined
  },
)

function isCronPart(part: string, index: number): boolean {
  const [least, most] = CRON_FIELDS[index] ?? [0, 0]
  const found = CRON_PART.exec(part)
  if (found === null) return false
  const from = Number(found[1] ?? least)
  const to = Number(found[2] ?? (found[1] === undefined ? most : from))
  return from >= least && to <= most && from <= to && found[3] !== '0' && found[3] !== '00'
}
