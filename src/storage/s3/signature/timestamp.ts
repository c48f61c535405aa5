// The basic ISO 8601 form that signatures carry: 20261121T093000Z.

/** Milliseconds since the epoch; undefined when it is not such a time. */
export function parseTimestamp(text: string): number | undefined {
  const found = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text)
  if (found === null) return undefined
  const [, year, month, day, hour, minute, second] = found
  const timeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(timeMs) ? undefined : timeMs
}
