// Schedules as cron writes them: five fields in UTC. Of a day of the month and a day of the week that are both limited,
// either is enough (POSIX, crontab).

/** Least and most of minute, hour, day of the month, month, day of the week; 7 is Sunday too. */
const FIELDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
const PART = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/
const MINUTE_MS = 60_000

export type Cron = {
  /** True where the minute of a time is one of the schedule. */
  matches(atMs: number): boolean
}

/** Undefined where the text is no schedule. */
export function parseCron(text: string): Cron | undefined {
  const texts = text.split(' ')
  const fields = FIELDS.map(([least, most], nth) => numbersOf(texts[nth] ?? '', least, most))
  const [minutes, hours, days, months, weekdays] = fields
  if (texts.length !== FIELDS.length || !minutes || !hours || !days || !months || !weekdays)
    return undefined
  if (weekdays.has(7)) weekdays.add(0)
  const [isAnyDay, isAnyWeekday] = [texts[2]?.startsWith('*'), texts[4]?.startsWith('*')]
  return {
    matches(atMs) {
      const at = new Date(atMs)
      const [isDay, isWeekday] = [days.has(at.getUTCDate()), weekdays.has(at.getUTCDay())]
      return (
        minutes.has(at.getUTCMinutes()) &&
        hours.has(at.getUTCHours()) &&
        months.has(at.getUTCMonth() + 1) &&
        (isAnyDay || isAnyWeekday ? isDay && isWeekday : isDay || isWeekday)
      )
    },
  }
}

function numbersOf(field: string, least: number, most: number): Set<number> | undefined {
  const numbers = new Set<number>()
  for (const part of field.split(',')) {
    const found = PART.exec(part)
    if (found === null) return undefined
    const from = Number(found[1] ?? least)
    // One number with a step goes to the end, as 5/15 does.
    const to = Number(found[2] ?? (found[1] === undefined || found[3] !== undefined ? most : from))
    const step = Number(found[3] ?? 1)
    if (from < least || to > most || from > to || step === 0) return undefined
    for (let number = from; number <= to; number += step) numbers.add(number)
  }
  return numbers
}

/** The last time of the schedule after one minute and up to another, both whole; at most `most` minutes back. */
export function lastTimeOf(
  cron: Cron,
  {
    afterMs,
    toMs,
    most,
  }: { readonly afterMs: number; readonly toMs: number; readonly most: number },
): number | undefined {
  for (let atMs = toMs; atMs > afterMs && atMs > toMs - most * MINUTE_MS; atMs -= MINUTE_MS)
    if (cron.matches(atMs)) return atMs
  return undefined
}
