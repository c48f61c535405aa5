// The days that a new pack is offered for: the month before this one, and never a time before the account.

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The first and the last day, both included, as a field of dates has them. */
export type PackDays = { readonly from: string; readonly to: string }

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The last month as far as the account existed; since the account was made where it is younger. */
export function offeredDays(now: Date, madeAt: Date): PackDays {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const made = dayOf(madeAt.getTime())
  const first = dayOf(Date.UTC(year, month - 1, 1))
  const last = dayOf(Date.UTC(year, month, 1) - DAY_MS)
  return made > last
    ? { from: made, to: dayOf(now.getTime()) }
    : { from: made > first ? made : first, to: last }
}

/** The time of a pack begins with its first day, and ends with its last day or now. */
export const spanOf = ({ from, to }: PackDays, now: Date): PackDays => ({
  from: `${from}T00:00:00Z`,
  to: new Date(Math.min(Date.parse(`${to}T00:00:00Z`) + DAY_MS, now.getTime())).toISOString(),
})

/** The command line takes minutes, and no time to come. */
export function packCommand(days: PackDays, now: Date): string {
  const ended = Date.parse(spanOf(days, now).to)
  const whole = new Date(ended - (ended % MINUTE_MS)).toISOString()
  const to = whole.endsWith('T00:00:00.000Z') ? whole.slice(0, 10) : `${whole.slice(0, 16)}Z`
  return `ergon evidence create --from ${days.from} --to ${to} -o evidence.zip`
}
