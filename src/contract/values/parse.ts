// Makes one of our types from an unknown JSON value, or one fault that names the field.
import type { z } from 'zod'
import { fault } from '#contract/errors.ts'
import { plainWords } from './plain-words.ts'

/**
 * The value, JSON of a bounded depth because schemas recurse (http/json-body.ts), as the schema's type. Throws `invalid_request` whose `param` is the path of the first
 * field at fault in OpenAI's notation (`messages[0].content`), absent when the whole value is.
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  assertNoProto(value)
  const parsed = schema.safeParse(value, { error: plainWords })
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  // A misspelt field is missing too, which would lead away from it.
  const first = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  if (first === undefined) throw fault('invalid_request', 'Could not accept the body')
  const { path, message } = deepest(first, [])
  const param = pathText(path)
  throw fault(
    'invalid_request',
    `Could not accept ${param === '' ? 'the body' : param}: ${message}`,
    param === '' ? {} : { param },
  )
}

const PROTO = '__proto__'

/** Maps of names lose this one without a word. */
function assertNoProto(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [field, one] of Object.entries(value))
    if (typeof one === 'object' && one !== null && Object.hasOwn(one, PROTO)) {
      const param = `${field}.${PROTO}`
      throw fault('invalid_request', `Could not accept ${param}: the name is reserved`, { param })
    }
}

type BodyFault = {
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** True when the types were right, so the fault is a limit or a form. */
  readonly fits: boolean
}

const OF_TYPE: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union'])

/** Unions hide the fault in their branches: the one whose types fit was meant, else the furthest. */
function deepest(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): BodyFault {
  // Of a field that is not known the path is that of its object.
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const path = [...above, ...issue.path, ...unknown]
  const here = { path, message: issue.message, fits: !OF_TYPE.has(issue.code) }
  if (issue.code !== 'invalid_union') return here
  let best: BodyFault = here
  for (const issues of issue.errors) {
    const [first, ...others] = issues.map((one) => deepest(one, path))
    if (first === undefined) continue
    const fits = first.fits && others.every((place) => place.fits)
    if (isBetter({ ...first, fits }, best)) best = { ...first, fits }
  }
  return best
}

function isBetter(one: BodyFault, best: BodyFault): boolean {
  if (one.fits !== best.fits) return one.fits
  if (one.path.length !== best.path.length) return one.path.length > best.path.length
  const [reached, before] = [one.path.at(-1), best.path.at(-1)]
  return typeof reached === 'number' && typeof before === 'number' && reached > before
}

/** A path in OpenAI's notation. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
