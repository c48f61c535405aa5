// Reads keywords of schemas that hold at once, and checks their values.
import { isFields, refuse, shown, type BodyFields } from '#inference/engine/fields.ts'
import type { Conjunction } from './schema-document.ts'

/** More than a model's context holds. */
export const COUNT_MAX = 100_000

const present = (schemas: Conjunction, key: string): readonly unknown[] =>
  schemas.flatMap((schema) => (schema[key] === undefined ? [] : [schema[key]]))

export const numbersOf = (schemas: Conjunction, key: string, param: string): readonly number[] =>
  present(schemas, key).map((value) => {
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw refuse(param, `${key} must be a number`)
    return value
  })

export const namesOf = (schemas: Conjunction, key: string, param: string): readonly string[] =>
  present(schemas, key).map((value) => {
    if (typeof value !== 'string') throw refuse(param, `${key} must be a string`)
    return value
  })

/** An upper bound above the length of any answer is dropped. */
export const countOf =
  (key: string, param: string) =>
  (value: number): number => {
    if (!Number.isInteger(value) || value < 0)
      throw refuse(param, `${key} must be a whole number of 0 or more`)
    if (value <= COUNT_MAX) return value
    if (key.startsWith('max')) return Number.POSITIVE_INFINITY
    throw refuse(param, `${key} must not be above ${COUNT_MAX}`)
  }

/** A name or value of a schema as JSON text. Refuses what no JSON text in UTF-8 says exactly. */
export function writtenExactly(value: unknown, param: string): string {
  const check = (text: string) => {
    if (!text.isWellFormed()) throw refuse(param, `${shown(text)} is not Unicode: half of a pair`)
  }
  return JSON.stringify(value, (name, field: unknown) => {
    check(name)
    if (typeof field === 'string') check(field)
    if (typeof field === 'number' && !Number.isFinite(field))
      throw refuse(param, 'an enumerated number is beyond what JSON readers hold')
    return field
  })
}

/** Fields of a keyword that is an object of schemas. */
export function subschemasOf(schema: BodyFields, key: string, param: string): BodyFields {
  const value = schema[key]
  if (value === undefined) return {}
  if (!isFields(value)) throw refuse(param, `${key} must be an object`)
  return value
}

export function stringsOf(value: unknown, key: string, param: string): readonly string[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw refuse(param, `${key} must be a list of names`)
  return value
}
