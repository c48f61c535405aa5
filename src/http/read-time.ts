// Times in queries of the API.
import { dayOf } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'

// RFC 3339 with optional time and zone. Date would read other forms in the zone of the server.
const TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ]((?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i

/** A time as a parameter gives it, in UTC where it has no zone. Throws invalid_request. */
export function readTime(text: string | null, name: string): Date | undefined {
  if (text === null) return undefined
  const [, day = '', time = '00:00', zone = 'Z'] = TIME.exec(text) ?? []
  const read = new Date(`${day}T${time}${zone}`.toUpperCase())
  // Date makes 2 March of the 30th of February.
  if (Number.isNaN(read.getTime()) || dayOf(Date.parse(day)) !== day)
    throw fault(
      'invalid_request',
      `Could not read the time: "${text.slice(0, 60)}" is not like 2026-11-23 or 2026-11-23T01:50:00Z`,
      { param: name },
    )
  return read
}
