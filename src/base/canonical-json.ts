// RFC 8785 (JCS) for the values we sign: strings, booleans, small integers, objects and arrays.
import { invariant } from './errors.ts'

export type Canonical =
  | string
  | boolean
  | number
  | readonly Canonical[]
  | { readonly [key: string]: Canonical | undefined }

/**
 * Canonical JSON text. Keys are sorted by UTF-16 code units (RFC 8785 §3.2.3), absent values are left
 * out. Numbers must be safe integers and strings well-formed: both are refused otherwise, because
 * another implementation could print them differently.
 */
export function canonicalJson(value: Canonical): string {
  if (typeof value === 'string') {
    invariant(value.isWellFormed(), 'canonical JSON: a string with a lone surrogate')
    return JSON.stringify(value)
  }
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'number') {
    invariant(Number.isSafeInteger(value), `canonical JSON: not a safe integer: ${value}`)
    return String(value)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const object = value as { readonly [key: string]: Canonical | undefined }
  const fields: string[] = []
  for (const key of Object.keys(object).toSorted()) {
    const field = object[key]
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalJson(field)}`)
  }
  return `{${fields.join(',')}}`
}
