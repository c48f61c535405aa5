// Faults of a value, in words for the people who sent it: the validator's own words are for programmers.
import type { z } from 'zod'

/** Keeps the words of a schema that has words of its own, which come before these. */
export function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input } = issue
  if (input === undefined && MISSING_CODES.has(code)) return 'it is missing'
  if (code === 'invalid_type')
    return `must be ${kindOf(issue)}${input === null ? ', not null' : ''}`
  if (code === 'invalid_value') return `must be ${oneOf(issue.values)}`
  if (code === 'invalid_union') return noForm(issue)
  if (code === 'invalid_key') return issue.issues[0]?.message
  if (code === 'too_small') return tooSmall(issue)
  if (code === 'too_big') {
    const { maximum, inclusive } = issue
    if (isSized(issue)) return `must have at most ${maximum} ${partsOf(issue)}`
    return `must be ${inclusive === false ? 'less than' : 'at most'} ${maximum}`
  }
  // The validator's own words are the last resort.
  return undefined
}

const MISSING_CODES: ReadonlySet<string> = new Set([
  'invalid_type',
  'invalid_value',
  'invalid_union',
])

const KINDS: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  int: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
}

type Issue<Code> = Extract<z.core.$ZodRawIssue, { code: Code }>

function kindOf({ expected, input }: Issue<'invalid_type'>): string {
  if (typeof input === 'number' && !Number.isFinite(input)) return 'a finite number'
  return KINDS[expected] ?? `of the type ${expected}`
}

type NoMatch = { readonly discriminator?: string; readonly options?: readonly unknown[] }

/** Of a union whose field `discriminator` says which of its forms an object has. */
function noForm({ input, ...issue }: Issue<'invalid_union'>): string | undefined {
  const { discriminator = '', options } = issue as NoMatch
  if (options === undefined) return undefined
  const said = (input as Record<string, unknown>)[discriminator]
  return said === undefined ? 'it is missing' : `must be ${oneOf(options)}`
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value))
  const last = texts.pop() ?? ''
  return texts.length === 0 ? last : `${texts.join(', ')} or ${last}`
}

function tooSmall(issue: Issue<'too_small'>): string {
  const { minimum, inclusive } = issue
  if (isSized(issue))
    return Number(minimum) === 1
      ? 'must not be empty'
      : `must have at least ${minimum} ${partsOf(issue)}`
  return `must be ${inclusive === false ? 'more than' : 'at least'} ${minimum}`
}

const PARTS: Readonly<Record<string, string>> = { array: 'items', string: 'characters' }

const isSized = ({ origin }: { origin: string }): boolean => Object.hasOwn(PARTS, origin)

const partsOf = ({ origin }: { origin: string }): string => PARTS[origin] ?? 'parts'
