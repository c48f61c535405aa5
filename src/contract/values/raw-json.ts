// JSON in which a number keeps the text it was printed with: the figure in a body must be the figure in
// the header, digit for digit.

type RawJson = { rawJSON(text: string): object }

/**
 * A number for JSON.stringify that prints exactly these digits. A double would not: 9007199.254740993
 * joules come back as 9007199.254740994. Throws RangeError when the text is not a plain decimal.
 */
export function rawNumber(text: string): object {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) throw new RangeError(`Not a plain decimal: "${text}"`)
  // ES2026 (V8 has it since 11.4); the compiler's library does not know it yet.
  return (JSON as typeof JSON & RawJson).rawJSON(text)
}
