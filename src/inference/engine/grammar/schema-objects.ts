// Objects of a schema: the properties that it names in their order, then others where it opens them.
import { isFields, type BodyFields } from '#inference/engine/fields.ts'
import { accepts, automatonOf, difference, intersection, type Automaton } from './automaton.ts'
import { EMPTY, or, seq, sequence, text, times, type Expr } from './grammar.ts'
import { assertPatternText, patternAutomaton } from './pattern.ts'
import { either, literal } from './regex.ts'
import { countOf, subschemasOf, numbersOf, stringsOf, writtenExactly } from './schema-keywords.ts'
import type { Conjunction, SchemaDocument } from './schema-document.ts'
import type { SchemaParts } from './schema-parts.ts'
import { quoted, stringAutomaton, stringExpr, stringLimits } from './schema-strings.ts'

/** A property that is written; one that leads back to its own object may be left out. */
type Property = { readonly expr: Expr; readonly mayLack: boolean; readonly isRequired: boolean }

/** The cost of a property in all that is made of it, however short its name. */
const PROPERTY_STEPS = 32

/** Undefined: there is no such object. */
export function objectExpr(
  schemas: Conjunction,
  parts: SchemaParts,
  depth: number,
): Expr | undefined {
  const { param } = parts.document
  const names = memberNames(schemas, param)
  const least = Math.max(
    0,
    ...numbersOf(schemas, 'minProperties', param).map(countOf('minProperties', param)),
  )
  const most = Math.min(
    Number.POSITIVE_INFINITY,
    ...numbersOf(schemas, 'maxProperties', param).map(countOf('maxProperties', param)),
  )
  const properties: Property[] = []
  for (const [name, isRequired] of names) {
    parts.budget.spend(PROPERTY_STEPS + name.length + schemas.length, param)
    const key = text(writtenExactly(name, param))
    const { value, loops } = parts.field(propertySchemas(name, schemas, parts.document), depth + 1)
    if (value === undefined && isRequired) return undefined
    if (value === undefined) continue
    const expr = seq(key, parts.colon, value)
    properties.push({ expr, mayLack: loops && !isRequired, isRequired })
  }
  const kept = withinCount(properties, most)
  if (kept === undefined) return undefined
  const sure = kept.filter(({ mayLack }) => !mayLack).length
  const others = otherFields(schemas, [...names.keys()], parts, depth)
  const missing = Math.max(0, least - sure)
  if (missing > 0 && others === undefined) {
    const all = kept.map((property) => ({ ...property, mayLack: false }))
    return all.length < least ? undefined : fields(all, undefined, [0, 0], parts)
  }
  return fields(kept, others, [missing, most - kept.length], parts)
}

/** The names of all properties in their order, and whether they are required. */
function memberNames(schemas: Conjunction, param: string): Map<string, boolean> {
  const declared = schemas.flatMap((schema) =>
    Object.keys(subschemasOf(schema, 'properties', param)),
  )
  const required = new Set(
    schemas.flatMap((schema) => stringsOf(schema['required'], 'required', param)),
  )
  const dependent = schemas.map((schema) => subschemasOf(schema, 'dependentRequired', param))
  // Every declared member is written, so every member that depends on it is required. The set grows while it is read.
  const written = new Set([...declared, ...required])
  for (const name of written)
    for (const each of dependent)
      if (Object.hasOwn(each, name))
        for (const other of stringsOf(each[name], 'dependentRequired', param)) {
          required.add(other)
          written.add(other)
        }
  return new Map([...written].map((name) => [name, required.has(name)]))
}

/** The rules of all schemas for one property. */
function propertySchemas(
  name: string,
  schemas: Conjunction,
  document: SchemaDocument,
): readonly unknown[] {
  return schemas.flatMap((schema) => {
    const own = subschemasOf(schema, 'properties', document.param)
    const declared = Object.hasOwn(own, name) ? [own[name]] : []
    const patterns = Object.entries(subschemasOf(schema, 'patternProperties', document.param))
    if (patterns.length > 0) assertPatternText(name, document.param)
    const byPattern = patterns
      .filter(([pattern]) => accepts(patternAutomaton(pattern, document), name))
      .map(([, each]) => each)
    const found = [...declared, ...byPattern]
    return found.length > 0 ? found : additional(schema)
  })
}

/** A schema's rules for fields that it does not name. */
const additional = (schema: BodyFields): readonly unknown[] =>
  ['additionalProperties', 'unevaluatedProperties'].flatMap((key) =>
    schema[key] === undefined ? [] : [schema[key]],
  )

/** Fewer than all, when all are too many: the last optional ones go. Undefined: too many are required. */
function withinCount(properties: readonly Property[], most: number): Property[] | undefined {
  const kept = [...properties]
  while (kept.length > most) {
    const last = kept.findLastIndex(({ isRequired }) => !isRequired)
    if (last < 0) return undefined
    kept.splice(last, 1)
  }
  return kept
}

/** One field of any other name; undefined where there may be none. */
function otherFields(
  schemas: Conjunction,
  names: readonly string[],
  parts: SchemaParts,
  depth: number,
): Expr | undefined {
  const { document, colon, rules } = parts
  const patterns = [
    ...new Set(
      schemas.flatMap((schema) =>
        Object.keys(subschemasOf(schema, 'patternProperties', document.param)),
      ),
    ),
  ]
  const isOpened = schemas.some((schema) =>
    additional(schema).some((each) => each === true || isFields(each)),
  )
  const isUnsaid = names.length === 0 && patterns.length === 0
  const open = isOpened || isUnsaid ? [undefined, ...patterns] : patterns
  const bodies = open.flatMap((pattern) => {
    const value = parts.value(otherSchemas(pattern, schemas, document), depth + 1)
    const key = value && keyExpr(schemas, { names, patterns, pattern }, parts)
    return key === undefined ? [] : [seq(key, colon, value ?? EMPTY)]
  })
  return bodies.length === 0 ? undefined : rules.add(or(bodies))
}

const otherSchemas = (
  pattern: string | undefined,
  schemas: Conjunction,
  { param }: SchemaDocument,
): readonly unknown[] =>
  schemas.flatMap((schema) => {
    const own = subschemasOf(schema, 'patternProperties', param)
    if (pattern !== undefined && Object.hasOwn(own, pattern)) return [own[pattern]]
    return additional(schema)
  })

type Keys = {
  readonly names: readonly string[]
  readonly patterns: readonly string[]
  readonly pattern: string | undefined
}

/** Names that are none of the declared, and fit the one pattern, or none. */
function keyExpr(
  schemas: Conjunction,
  keys: Keys,
  { document, rules }: SchemaParts,
): Expr | undefined {
  const { names, patterns, pattern } = keys
  const wanted = schemas.flatMap(({ propertyNames }) =>
    propertyNames === undefined ? [] : [propertyNames],
  )
  const taken = names.length === 0 ? [] : [automatonOf(either(...names.map(literal)), document)]
  const excluded = [
    ...taken,
    ...patterns.filter((each) => each !== pattern).map((each) => patternAutomaton(each, document)),
  ]
  const allowed = document
    .alternatives(wanted)
    .map((each) => nameAutomaton(each, pattern, document))
    .map((each) => excluded.reduce((left, out) => difference(left, out, document), each))
    .filter((each) => each.length > 0)
  if (wanted.length === 0 && pattern === undefined && excluded.length === 0)
    return stringExpr({ least: 0, most: Number.POSITIVE_INFINITY, patterns: [] }, rules, document)
  return allowed.length === 0 ? undefined : or(allowed.map((each) => quoted(each, rules)))
}

function nameAutomaton(
  schemas: Conjunction,
  pattern: string | undefined,
  document: SchemaDocument,
): Automaton {
  const limits = stringLimits(schemas, document)
  const patterns = pattern === undefined ? limits.patterns : [...limits.patterns, pattern]
  const lists = schemas.flatMap((schema) => [
    ...(schema['enum'] === undefined ? [] : [schema['enum']]),
    ...(schema['const'] === undefined ? [] : [[schema['const']]]),
  ])
  return lists.reduce<Automaton>(
    (automaton, list) => {
      const texts = (Array.isArray(list) ? list : []).filter((each) => typeof each === 'string')
      for (const each of texts) assertPatternText(each, document.param)
      return intersection(automaton, automatonOf(either(...texts.map(literal)), document), document)
    },
    stringAutomaton({ ...limits, patterns }, document),
  )
}

function fields(
  properties: readonly Property[],
  others: Expr | undefined,
  [least, most]: readonly [number, number],
  parts: SchemaParts,
): Expr {
  const { comma, rules } = parts
  const more = others === undefined || most <= 0 ? undefined : rules.add(seq(comma, others))
  const tail = (hasBefore: boolean): Expr => {
    if (others === undefined || more === undefined) return EMPTY
    if (hasBefore) return times(more, least, most)
    const some = seq(others, times(more, Math.max(0, least - 1), most - 1))
    return least === 0 ? or([some, EMPTY]) : some
  }
  // The loop goes from the last property to the first. `after` is what follows a property, back to front: it begins
  // with a comma. `alone` is what follows the brace; where undefined, it is `after` without that comma.
  let after: Expr[] = [tail(true)]
  let alone: Expr | undefined = tail(false)
  const forwards = (backwards: readonly Expr[]) => sequence(backwards.toReversed())
  for (const { expr, mayLack } of properties.toReversed()) {
    if (!mayLack) {
      after.push(expr, comma)
      alone = undefined
      continue
    }
    const written = forwards([...after, expr])
    alone = rules.add(or([written, alone ?? forwards(after.slice(0, -1))]))
    after = [rules.add(or([seq(comma, written), forwards(after)]))]
  }
  return seq(text('{'), alone ?? forwards(after.slice(0, -1)), text('}'))
}
