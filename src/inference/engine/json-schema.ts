// A caller's JSON Schema → the part of it that the engine turns into a grammar. What a grammar cannot
// hold (patterns, number ranges) is refused when the caller asked for `strict`, else left out.
import type { GbnfJsonObjectSchema, Llama, LlamaGrammar } from 'node-llama-cpp'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { deterministicGrammar } from './deterministic-grammar.ts'
import { isFields, refuse, type Fields } from './fields.ts'

export const NODES_MAX = 1000
export const DEPTH_MAX = 32
/** Repetitions become copies of rules: larger ones make grammars of megabytes. */
const REPETITIONS_MAX = 1000

const words = (text: string) => new Set(text.split(' '))
const ANNOTATIONS = words(
  'title description default examples example deprecated readOnly writeOnly $schema $id $comment',
)
const HELD = words(
  'type properties required additionalProperties items prefixItems minItems maxItems enum const ' +
    'oneOf anyOf $ref $defs definitions minLength maxLength format',
)
const FORMATS = new Set(['date-time', 'time', 'date'])

type Walk = {
  readonly param: string
  readonly strict: boolean
  /** The names that $ref may use. */
  readonly defs: ReadonlySet<string>
  /** Schemas and enumerated values met so far. */
  nodes: number
}

/**
 * The schema for `createGrammarForJsonSchema`. The root must be an object or an array. Every property
 * is generated, optional ones too. Throws `invalid_request` naming `param`.
 */
export function grammarSchema(schema: unknown, param: string, strict: boolean): Fields {
  if (!isFields(schema)) throw refuse(param, 'the schema must be an object')
  const given = schema['$defs'] ?? schema['definitions']
  const defs = isFields(given) ? given : {}
  const walk: Walk = { param, strict, defs: new Set(Object.keys(defs)), nodes: 0 }
  const root = convert(schema, walk, 0)
  if (walk.defs.size === 0) return root
  return { ...root, $defs: mapValues(defs, (def) => convert(def, walk, 1)) }
}

/** Charges synchronous work to whom it is for. */
type Own = <T>(work: () => T) => T

/** The grammar of a schema made by grammarSchema(), whose shape the engine's types cannot follow. */
export async function createSchemaGrammar(
  llama: Llama,
  schema: Fields,
  { param, own }: { readonly param: string; readonly own: Own },
): Promise<LlamaGrammar> {
  try {
    // The engine reads the text of every grammar at once: only what is bounded may reach its sampler.
    const given = await own(() => llama.createGrammarForJsonSchema(schema as GbnfJsonObjectSchema))
    const grammar = own(() => deterministicGrammar(given.grammar, param))
    return await own(() => llama.createGrammar({ grammar }))
  } catch (cause) {
    if (cause instanceof ErgonError) throw cause
    throw fault('invalid_request', 'Could not make a grammar of the schema', { cause, param })
  }
}

function convert(schema: unknown, walk: Walk, depth: number): Fields {
  if (schema === true || schema === undefined) return ANY
  if (!isFields(schema)) throw refuse(walk.param, 'a schema that is no object')
  count(walk, 1)
  if (depth > DEPTH_MAX) throw refuse(walk.param, `nested deeper than ${DEPTH_MAX}`)
  if (walk.strict) refuseUnheld(schema, walk)
  const alternatives = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(alternatives)) {
    count(walk, alternatives.length)
    return { oneOf: alternatives.map((each) => convert(each, walk, depth + 1)) }
  }
  if (schema['$ref'] !== undefined) return reference(schema['$ref'], walk)
  if (schema['const'] !== undefined) return { const: literal(schema['const'], walk) }
  if (Array.isArray(schema['enum'])) {
    count(walk, schema['enum'].length)
    return { enum: schema['enum'].map((value) => literal(value, walk)) }
  }
  return typed(schema, walk, depth)
}

/** Counts schemas or alternatives; none at all could never be generated. */
function count(walk: Walk, nodes: number): void {
  if (nodes === 0) throw refuse(walk.param, 'an empty enum, anyOf or oneOf')
  walk.nodes += nodes
  if (walk.nodes > NODES_MAX)
    throw refuse(walk.param, `more than ${NODES_MAX} schemas and values in one`)
}

/** Any JSON value; the engine would read an empty schema as null. */
const ANY: Fields = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'object', additionalProperties: true },
    { type: 'array' },
  ],
}

function typed(schema: Fields, walk: Walk, depth: number): Fields {
  const types = typesOf(schema)
  if (types.length === 0) return ANY
  const each = types.map((type) => {
    if (type === 'object') return object(schema, walk, depth)
    if (type === 'array') return array(schema, walk, depth)
    if (type === 'string') return string(schema, walk)
    if (['number', 'integer', 'boolean', 'null'].includes(type)) return { type }
    throw refuse(walk.param, `unknown type ${JSON.stringify(type)}`)
  })
  return each.length === 1 && each[0] !== undefined ? each[0] : { oneOf: each }
}

function typesOf(schema: Fields): string[] {
  const type = schema['type']
  if (Array.isArray(type)) return type.map(String)
  if (typeof type === 'string') return [type]
  if (isFields(schema['properties'])) return ['object']
  return schema['items'] === undefined ? [] : ['array']
}

function object(schema: Fields, walk: Walk, depth: number): Fields {
  const properties = isFields(schema['properties']) ? schema['properties'] : {}
  const more = schema['additionalProperties']
  // JSON Schema's default is open, but a grammar left open invites endless made-up members.
  const open = more === true || (more === undefined && Object.keys(properties).length === 0)
  return {
    type: 'object',
    properties: mapValues(named(properties, walk), (each) => convert(each, walk, depth + 1)),
    ...(open ? { additionalProperties: true } : {}),
    ...(isFields(more) ? { additionalProperties: convert(more, walk, depth + 1) } : {}),
  }
}

function array(schema: Fields, walk: Walk, depth: number): Fields {
  const { items, prefixItems } = schema
  return {
    type: 'array',
    ...(items === undefined ? {} : { items: convert(items, walk, depth + 1) }),
    ...(Array.isArray(prefixItems)
      ? { prefixItems: prefixItems.map((each) => convert(each, walk, depth + 1)) }
      : {}),
    ...counts(schema, ['minItems', 'maxItems'], walk),
  }
}

function string(schema: Fields, walk: Walk): Fields {
  const { format } = schema
  if (typeof format === 'string' && FORMATS.has(format)) return { type: 'string', format }
  return { type: 'string', ...counts(schema, ['minLength', 'maxLength'], walk) }
}

function counts(schema: Fields, keys: readonly string[], walk: Walk): Fields {
  const found = keys.filter((key) => schema[key] !== undefined)
  for (const key of found) {
    const value = schema[key]
    if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > REPETITIONS_MAX)
      throw refuse(walk.param, `${key} must be an integer from 0 to ${REPETITIONS_MAX}`)
  }
  return Object.fromEntries(found.map((key) => [key, schema[key]]))
}

function literal(value: unknown, walk: Walk): string | number | boolean | null {
  if (typeof value === 'string') return writable(value, walk)
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  throw refuse(walk.param, 'const and enum may hold strings, numbers, booleans and null')
}

function reference(ref: unknown, walk: Walk): Fields {
  const name =
    typeof ref === 'string' ? /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(ref)?.[1] : null
  if (name === null || name === undefined)
    throw refuse(walk.param, `$ref must be "#/$defs/<name>": ${JSON.stringify(ref)}`)
  if (!walk.defs.has(name)) throw refuse(walk.param, `$ref to nothing: ${JSON.stringify(ref)}`)
  return { $ref: `#/$defs/${name}` }
}

function refuseUnheld(schema: Fields, walk: Walk): void {
  for (const key of Object.keys(schema))
    if (!HELD.has(key) && !ANNOTATIONS.has(key))
      throw refuse(walk.param, `"strict" cannot hold the keyword ${JSON.stringify(key)}`)
  const { format } = schema
  if (format !== undefined && !(typeof format === 'string' && FORMATS.has(format)))
    throw refuse(walk.param, `"strict" cannot hold the format ${JSON.stringify(format)}`)
}

function named(properties: Fields, walk: Walk): Fields {
  for (const name of Object.keys(properties)) writable(name, walk)
  return properties
}

const FIRST_PRINTABLE = ' '
const SHORT_ESCAPES = '\t\n\r'

/** The engine's generator writes other control characters into the grammar as they are. */
function writable(text: string, walk: Walk): string {
  for (const character of text)
    if (character < FIRST_PRINTABLE && !SHORT_ESCAPES.includes(character))
      throw refuse(walk.param, 'control characters in a name or a value')
  return text
}

const mapValues = (fields: Fields, change: (value: unknown) => Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value)]))
