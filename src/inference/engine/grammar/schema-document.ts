// A caller's JSON Schema, taken apart: what $ref, allOf, anyOf and oneOf put together becomes a list of
// alternatives, each a list of plain schemas that hold at once. Keywords that no grammar holds are refused
// here, so that none is dropped in silence.
import { isFields, refuse, shown, type BodyFields } from '#inference/engine/fields.ts'
import { DEPTH_MAX, type Budget } from './budget.ts'

/** Schemas that hold at once. */
export type Conjunction = readonly BodyFields[]

const ALTERNATIVES_MAX = 256

const words = (text: string) => new Set(text.split(' '))
const ANNOTATIONS = words(
  'title description default examples example deprecated readOnly writeOnly $schema $id $comment ' +
    '$anchor $vocabulary $defs definitions contentMediaType contentEncoding contentSchema ' +
    'discriminator nullable externalDocs xml',
)
const HELD = words(
  'type enum const $ref allOf anyOf oneOf properties required additionalProperties ' +
    'patternProperties propertyNames minProperties maxProperties dependentRequired ' +
    'unevaluatedProperties items prefixItems additionalItems unevaluatedItems minItems maxItems ' +
    'uniqueItems minLength maxLength pattern format minimum maximum exclusiveMinimum ' +
    'exclusiveMaximum multipleOf',
)
const NOT_HELD = words(
  'not if then else dependentSchemas dependencies contains minContains maxContains $dynamicRef ' +
    '$recursiveRef',
)

export type SchemaSource = {
  readonly root: BodyFields
  /** The field of the request that it came in. */
  readonly param: string
  /** Names that JSON Schema does not know are refused too. */
  readonly strict: boolean
  readonly budget: Budget
}

export type SchemaDocument = SchemaSource & {
  /** The alternatives of schemas that hold at once; none: nothing is valid. */
  readonly alternatives: (schemas: readonly unknown[]) => readonly Conjunction[]
}

export function openDocument(source: SchemaSource): SchemaDocument {
  const { param, budget } = source
  const checked = new Set<BodyFields>()
  const check = (schema: BodyFields): void => {
    if (checked.has(schema)) return
    checked.add(schema)
    budget.spend(Object.keys(schema).length, param)
    refuseUnheld(schema, source)
  }
  const cross = (
    one: readonly Conjunction[],
    other: readonly Conjunction[],
  ): readonly Conjunction[] => {
    budget.spend(sizeOf(one) * other.length + sizeOf(other) * one.length, param)
    const all = one.flatMap((a) => other.map((b) => [...a, ...b]))
    if (all.length > ALTERNATIVES_MAX)
      throw refuse(param, `more than ${ALTERNATIVES_MAX} alternatives in one place`)
    return all
  }
  const flatten = (schema: unknown, path: readonly BodyFields[]): readonly Conjunction[] => {
    budget.spend(1, param)
    if (schema === true) return [[]]
    if (schema === false) return []
    if (!isFields(schema)) throw refuse(param, 'a schema that is neither an object nor a boolean')
    if (path.includes(schema)) throw refuse(param, 'a schema that is its own $ref')
    if (path.length > DEPTH_MAX) throw refuse(param, `nested deeper than ${DEPTH_MAX}`)
    check(schema)
    const inside = [...path, schema]
    const parts = [
      ...(schema['$ref'] === undefined ? [] : [[resolve(schema['$ref'], source)]]),
      ...listOf(schema, 'allOf', param).map((each) => [each]),
      ...['anyOf', 'oneOf'].flatMap((key) =>
        schema[key] === undefined ? [] : [listOf(schema, key, param)],
      ),
    ]
    return parts.reduce<readonly Conjunction[]>(
      (all, choices) =>
        cross(
          all,
          choices.flatMap((each) => flatten(each, inside)),
        ),
      [[schema]],
    )
  }
  return {
    ...source,
    alternatives: (schemas) =>
      schemas.reduce<readonly Conjunction[]>((all, each) => cross(all, flatten(each, [])), [[]]),
  }
}

/**
 * The steps of one pass over all keywords of a schema, without the schemas inside. A writer of a conjunction spends
 * them for each of its schemas, each time: one definition may be used at many places.
 */
export function createWeights(): (schema: BodyFields) => number {
  const known = new WeakMap<BodyFields, number>()
  return (schema) => {
    const before = known.get(schema)
    if (before !== undefined) return before
    const weight = Object.entries(schema).reduce(
      (sum, [key, value]) => sum + 1 + weightOf(key, value),
      0,
    )
    known.set(schema, weight)
    return weight
  }
}

function weightOf(key: string, value: unknown): number {
  if (typeof value === 'string') return value.length / STEP_CHARACTERS
  if (key === 'enum' || key === 'const') return JSON.stringify(value).length / STEP_CHARACTERS
  if (Array.isArray(value)) return value.length
  if (!isFields(value)) return 0
  const fields = Object.values(value)
  const listed = fields.map((each) => (Array.isArray(each) ? each.length : 0))
  return listed.reduce((sum, length) => sum + length, fields.length)
}

function listOf(schema: BodyFields, key: string, param: string): readonly unknown[] {
  const value = schema[key]
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length === 0)
    throw refuse(param, `${key} must be a list that is not empty`)
  return value
}

/** The number of schemas to copy; an alternative without any counts too. */
const sizeOf = (alternatives: readonly Conjunction[]): number =>
  alternatives.reduce((sum, each) => sum + each.length, alternatives.length)

/** Characters that are read in the time of a step. */
const STEP_CHARACTERS = 16

/** A JSON pointer into the document. Nothing is fetched. */
function resolve(ref: unknown, { root, param, budget }: SchemaSource): unknown {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref))
    throw refuse(param, `$ref must be a place in this schema, as "#/$defs/name": ${shown(ref)}`)
  budget.spend(ref.length / STEP_CHARACTERS, param)
  let at: unknown = root
  for (const part of ref.split('/').slice(1)) {
    const name = unescaped(part)
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, name)
    if (!isThere) throw refuse(param, `$ref to nothing: ${shown(ref)}`)
    at = (at as BodyFields)[name]
  }
  return at
}

function unescaped(part: string): string {
  const pointer = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

function refuseUnheld(schema: BodyFields, { param, strict }: SchemaSource): void {
  for (const key of Object.keys(schema)) {
    if (NOT_HELD.has(key)) throw refuse(param, `no grammar holds the keyword "${key}"`)
    if (strict && !HELD.has(key) && !ANNOTATIONS.has(key))
      throw refuse(param, `"strict" does not know the keyword ${shown(key)}`)
  }
}
