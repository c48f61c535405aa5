// From an unknown JSON value to one of our types, or one fault that names the field.
import type { z } from 'zod'
import { fault } from '#contract/errors.ts'

/**
 * The value, JSON of a bounded depth because schemas recurse (http/json-body.ts), as the schema's type. Throws `invalid_request` whose `param` is the path of the first
 * field at fault in OpenAI's notation (`messages[0].content`), absent when the whole value is.
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues
  if (first === undefined) throw fault('invalid_request', 'Could not accept the body')
  const { path, message } = deepest(first, [])
  const param = pathText(path)
  throw fault(
    'invalid_request',
    `Could not accept ${param === '' ? 'the body' : param}: ${message}`,
    param === '' ? {} : { param },
  )
}

type Place = { readonly path: readonly PropertyKey[]; readonly message: string }

/** Unions hide the fault in their branches: the branch that got furthest is the one that was meant. */
function deepest(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): Place {
  const here: Place = { path: [...above, ...issue.path], message: issue.message }
  if (issue.code !== 'invalid_union') return here
  let best = here
  for (const branch of issue.errors) {
    const [first] = branch
    if (first === undefined) continue
    const place = deepest(first, here.path)
    if (place.path.length > best.path.length) best = place
  }
  return best
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
