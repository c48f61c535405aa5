// Reads fields of a parsed JSON body. The gateway has checked the shape by schema; here every value is
// bounded once more, for a cell is a process of its own and may have other callers.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'

export type BodyFields = Readonly<Record<string, unknown>>

export const refuse = (param: string, detail: string): ErgonError =>
  fault('invalid_request', `Could not use ${param}: ${detail}`, { param })

export const unsupported = (param: string, detail: string): ErgonError =>
  fault('unsupported_parameter', `Could not use ${param}: ${detail}`, { param })

/** The start of a caller's value, for a message. */
export const shown = (value: unknown): string => String(JSON.stringify(value)).slice(0, 200)

export const isFields = (value: unknown): value is BodyFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function fieldsOf(value: unknown, param: string): BodyFields {
  if (!isFields(value)) throw refuse(param, 'it must be an object')
  return value
}

/** The field, where null means absent, as in OpenAI's interface. */
export const fieldOf = (fields: BodyFields, key: string): unknown => fields[key] ?? undefined

type NumberBounds = { readonly least: number; readonly most: number; readonly integer?: boolean }

export function numberOf(
  fields: BodyFields,
  key: string,
  bounds: NumberBounds,
): number | undefined {
  const value = fieldOf(fields, key)
  if (value === undefined) return undefined
  const fits =
    typeof value === 'number' &&
    (bounds.integer === true ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
    value >= bounds.least &&
    value <= bounds.most
  if (!fits) {
    const kind = bounds.integer === true ? 'an integer' : 'a number'
    throw refuse(key, `it must be ${kind} from ${bounds.least} to ${bounds.most}`)
  }
  return value
}

export function booleanOf(fields: BodyFields, key: string): boolean | undefined {
  const value = fieldOf(fields, key)
  if (value === undefined || typeof value === 'boolean') return value
  throw refuse(key, 'it must be true or false')
}

/** A well-formed string of at most `most` UTF-16 units; by default only the body's limit holds. */
export function textOf(value: unknown, param: string, most = Number.POSITIVE_INFINITY): string {
  if (typeof value !== 'string') throw refuse(param, 'it must be a string')
  if (value.length > most) throw refuse(param, `it is longer than ${most} characters`)
  return value.toWellFormed()
}

export function listOf(value: unknown, param: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw refuse(param, 'it must be an array')
  if (value.length > most) throw refuse(param, `it has more than ${most} members`)
  return value
}
