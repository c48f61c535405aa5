// Values to JSON and back. Whole numbers keep all their digits in both directions.
import { VALUE_DEPTH_MAX } from '#hcl/evaluate/evaluation-budget.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import { isList, isObject, kindOf, sortedKeys, type HclValue } from '#hcl/values/value.ts'
import { HclArgumentError } from './function.ts'

/** Lists and objects within each other that JSON.parse() is given. */
const READ_DEPTH_MAX = 1000

/** Compact, with the keys of objects in order. The value is measured, so its depth is bounded. */
export function jsonOf(value: HclValue): string {
  if (value === null || typeof value === 'boolean' || value instanceof Numeric) return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (isList(value)) return `[${value.map(jsonOf).join(',')}]`
  if (!isObject(value)) throw new HclArgumentError(`Expected data, found ${kindOf(value)}`)
  const entries = sortedKeys(value).map(
    (key) => `${JSON.stringify(key)}:${jsonOf(value.get(key) ?? null)}`,
  )
  return `{${entries.join(',')}}`
}

/** Throws HclArgumentError of text that is no JSON. */
export function valueOfJson(text: string): HclValue {
  // A reviver makes JSON.parse() call itself for each list in another: 50,000 of them use up the stack.
  if (isTooDeep(text)) throw tooDeep()
  try {
    return fromJson(JSON.parse(text, keepDigits), 0)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new HclArgumentError(`Expected JSON, found something else: ${error.message}`)
  }
}

type ReviverContext = { readonly source?: string }

/** The reviver gets the digits of a number as they stand in the text. */
function keepDigits(
  this: unknown,
  _key: string,
  value: unknown,
  context?: ReviverContext,
): unknown {
  if (typeof value !== 'number') return value
  const number = Numeric.read(context?.source ?? String(value))
  if (number === undefined) throw new HclArgumentError('Expected numbers of at most 400 digits')
  return number
}

function fromJson(json: unknown, depth: number): HclValue {
  if (depth > VALUE_DEPTH_MAX) throw tooDeep()
  if (json === null || typeof json === 'string' || typeof json === 'boolean') return json
  if (json instanceof Numeric) return json
  if (Array.isArray(json)) return json.map((item) => fromJson(item, depth + 1))
  if (typeof json !== 'object') throw new HclArgumentError('Expected JSON')
  return new Map(Object.entries(json).map(([key, item]) => [key, fromJson(item, depth + 1)]))
}

const tooDeep = () =>
  new HclArgumentError(`Expected at most ${VALUE_DEPTH_MAX} lists and objects in each other`)

/** Texts are passed over: their signs open nothing. A text without a closing quote is passed over once too. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (sign === '[' || sign === '{') depth++
    else if (sign === ']' || sign === '}') depth--
    if (depth > READ_DEPTH_MAX) return true
  }
  return false
}
