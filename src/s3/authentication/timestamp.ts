// The times that signatures carry: the basic ISO 8601 form (20261121T093000Z), and HTTP's for version 2.

/** Milliseconds since the epoch; undefined for any other text. */
export function parseTimestamp(text: string): number | undefined {
  const found = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text)
  if (found === null) return undefined
  const [, year, month, day, hour, minute, second] = found
  const timeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

// The form of version 2 clients; s3cmd has a numeric zone. No other form: the number of a presigned address must not
// become the date of a header, as both are the same line of the signed text.
const HTTP_DATE =
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]\d{4})$/

/** Milliseconds since the epoch of an HTTP date or of the form above; undefined for any other text. */
export function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return parseTimestamp(text)
  const timeMs = Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}
