// Fields with units: energy, memory, time, processors, schedules.
import { parseCron } from '#contract/values/cron.ts'
import { msOfDuration, type DurationRange } from '#contract/values/durations.ts'
import { energyPerDay } from '#contract/values/energy-budget.ts'
import { bytesOfSize, type SizeRange } from '#contract/values/sizes.ts'
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

/** A duration in milliseconds. */
export const durationField = (help: string, range: DurationRange): StackField<number> =>
  parsedField(
    {
      help,
      expected: `a duration from ${range.least} to ${range.most} in ms, s, m or h, such as "10s"`,
    },
    (text) => msOfDuration(text, range),
  )

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

export const scheduleField = parsedField(
  {
    help: 'When it runs, as cron writes it, in UTC',
    expected:
      'five fields of cron: minute, hour, day, month, day of the week, such as "*/5 * * * *"',
  },
  (text) => (parseCron(text) === undefined ? undefined : text),
)
