// A JSON Schema as a grammar of the JSON texts that are valid by it. Every property is written, optional
// ones too: left to choose, small models answer {}. Objects are closed unless the schema opens them, as a
// grammar left open invites endless made-up fields. So less is written than would be valid, never more.
import { refuse } from '#inference/engine/fields.ts'
import { DEPTH_MAX } from './budget.ts'
import { oneOfTexts, or, EMPTY, text, type Expr } from './grammar.ts'
import { fitsNumber, numberExpr, type NumberLimits } from './numbers.ts'
import { arrayExpr } from './schema-arrays.ts'
import { numbersOf, writtenExactly } from './schema-keywords.ts'
import type { SchemaParts, GrammarWriting } from './schema-parts.ts'
import { objectExpr } from './schema-objects.ts'
import {
  createWeights,
  openDocument,
  type Conjunction,
  type SchemaDocument,
  type SchemaSource,
} from './schema-document.ts'
import { stringExpr, stringLimits, stringTest } from './schema-strings.ts'

/** Throws `invalid_request` naming `param`, also where nothing is valid. */
export function schemaExpr(source: Omit<SchemaSource, 'budget'>, writing: GrammarWriting): Expr {
  const document = openDocument({ ...source, budget: writing.budget })
  const value = createParts(document, writing).value([source.root], 0)
  if (value === undefined) throw refuse(source.param, 'nothing is valid by this schema')
  return value
}

function createParts(document: SchemaDocument, writing: GrammarWriting): SchemaParts {
  const { rules, budget } = writing
  const { param } = document
  const known = new Map<string, { expr: Expr | undefined; isOpen: boolean }>()
  const ids = new Map<unknown, number>()
  const weightOf = createWeights()
  let looped = false
  const idOf = (schema: unknown): number => {
    const id = ids.get(schema) ?? ids.size
    ids.set(schema, id)
    return id
  }
  const parts: SchemaParts = {
    ...writing,
    document,
    value(given, depth) {
      const schemas = given.filter((each) => each !== true)
      if (depth > DEPTH_MAX) throw refuse(param, `nested deeper than ${DEPTH_MAX}`)
      const key = schemas.map(idOf).join(' ')
      const before = known.get(key)
      if (before !== undefined) {
        looped ||= before.isOpen
        return before.expr
      }
      const name = rules.reserve()
      const entry = { expr: { kind: 'rule', name } as Expr | undefined, isOpen: true }
      known.set(key, entry)
      const bodies = document
        .alternatives(schemas)
        .map((each) => {
          for (const schema of each) budget.spend(weightOf(schema), param)
          return alternative(each, parts, depth)
        })
        .filter((each) => each !== undefined)
      budget.spend(bodies.length, param)
      entry.isOpen = false
      // A schema that refers to itself already holds the rule's name. Without a body, the rule never ends, and
      // finished() removes the alternatives that need it.
      entry.expr = bodies.length === 0 ? undefined : rules.set(name, or(bodies))
      return entry.expr
    },
    field(schemas, depth) {
      const before = looped
      looped = false
      const value = parts.value(schemas, depth)
      const loops = looped
      looped ||= before
      return { value, loops }
    },
  }
  return parts
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'] as const
type Type = (typeof TYPES)[number]
const ANY_TYPE: readonly Type[] = ['string', 'number', 'object', 'array', 'boolean', 'null']

/** Keywords that say what is meant where `type` does not. */
const IMPLIED: readonly (readonly [Type, RegExp])[] = [
  ['object', /^(properties|required|.*Properties|propertyNames|dependentRequired)$/],
  ['array', /^(.*[iI]tems)$/],
  ['string', /^(pattern|format|.*Length)$/],
  ['number', /^(.*(inimum|aximum)|multipleOf)$/],
]

function alternative(schemas: Conjunction, parts: SchemaParts, depth: number): Expr | undefined {
  const types = typesOf(schemas, parts.document.param)
  const values = enumerated(schemas, parts.document.param)
  if (values !== undefined) return literals(values, types, schemas, parts)
  const bodies = types
    .map((type) => ofType(type, schemas, parts, depth))
    .filter((each) => each !== undefined)
  return bodies.length === 0 ? undefined : or(bodies)
}

/** The types that all of the schemas allow. */
function typesOf(schemas: Conjunction, param: string): readonly Type[] {
  const asked = schemas.flatMap(({ type }) => (type === undefined ? [] : [typeList(type, param)]))
  const implied = IMPLIED.flatMap(([type, keys]) =>
    schemas.some((schema) => Object.keys(schema).some((key) => keys.test(key))) ? [type] : [],
  )
  const start = asked.length === 0 && implied.length > 0 ? implied : ANY_TYPE
  return asked.reduce<readonly Type[]>((types, list) => {
    const integers = types.includes('integer') || list.includes('integer')
    const has = (all: readonly Type[], type: Type) =>
      all.includes(type) || (type === 'integer' && all.includes('number'))
    const kept = TYPES.filter(
      (type) => has(types, type) && has(list, type) && (type !== 'integer' || integers),
    )
    return kept.includes('number') ? kept.filter((type) => type !== 'integer') : kept
  }, start)
}

function typeList(type: unknown, param: string): readonly Type[] {
  return (Array.isArray(type) ? type : [type]).map((name) => {
    const known = TYPES.find((each) => each === name)
    if (known === undefined) throw refuse(param, `unknown type ${JSON.stringify(name)}`)
    return known
  })
}

function ofType(
  type: Type,
  schemas: Conjunction,
  parts: SchemaParts,
  depth: number,
): Expr | undefined {
  const { document, rules } = parts
  switch (type) {
    case 'null':
      return text('null')
    case 'boolean':
      return or([text('true'), text('false')])
    case 'integer':
    case 'number':
      return numberExpr(numberLimits(type, schemas, document.param), rules, document)
    case 'string':
      return stringExpr(stringLimits(schemas, document), rules, document)
    case 'array':
      return arrayExpr(schemas, parts, depth)
    case 'object':
      return objectExpr(schemas, parts, depth)
  }
}

const INT32 = 2 ** 31

function numberLimits(type: Type, schemas: Conjunction, param: string): NumberLimits {
  const isInt32 = schemas.some(({ format }) => format === 'int32')
  const bounds = (closed: string, open: string) => [
    ...numbersOf(schemas, closed, param).map((value) => ({ value, isOpen: false })),
    ...numbersOf(schemas, open, param).map((value) => ({ value, isOpen: true })),
  ]
  const [least] = [
    ...bounds('minimum', 'exclusiveMinimum'),
    ...(isInt32 ? [{ value: -INT32, isOpen: false }] : []),
  ].toSorted((a, b) => b.value - a.value || Number(b.isOpen) - Number(a.isOpen))
  const [most] = [
    ...bounds('maximum', 'exclusiveMaximum'),
    ...(isInt32 ? [{ value: INT32 - 1, isOpen: false }] : []),
  ].toSorted((a, b) => a.value - b.value || Number(b.isOpen) - Number(a.isOpen))
  return {
    isInteger: type === 'integer',
    steps: numbersOf(schemas, 'multipleOf', param),
    ...(least === undefined ? {} : { least }),
    ...(most === undefined ? {} : { most }),
  }
}

/** The values of `const` and `enum`, when there are any: those that all of them name. */
function enumerated(schemas: Conjunction, param: string): readonly unknown[] | undefined {
  const lists = schemas.flatMap((schema) => [
    ...(schema['const'] === undefined ? [] : [[schema['const']]]),
    ...(schema['enum'] === undefined ? [] : [listed(schema['enum'], param)]),
  ])
  const [first, ...others] = lists
  const textsOf = others.map((list) => new Set(list.map((value) => JSON.stringify(value))))
  return first?.filter((value) => textsOf.every((texts) => texts.has(JSON.stringify(value))))
}

function listed(values: unknown, param: string): readonly unknown[] {
  if (!Array.isArray(values) || values.length === 0) throw refuse(param, 'an empty enum')
  return values
}

function literals(
  values: readonly unknown[],
  types: readonly Type[],
  schemas: Conjunction,
  parts: SchemaParts,
): Expr | undefined {
  const { param, budget } = parts.document
  const strings = values.some((value) => typeof value === 'string')
    ? stringLimits(schemas, parts.document)
    : undefined
  const fitsString = strings && stringTest(strings, parts.document)
  const numbers = numberLimits(types.includes('number') ? 'number' : 'integer', schemas, param)
  const fits = (value: unknown): boolean => {
    if (typeof value === 'string') return types.includes('string') && fitsString?.(value) === true
    if (typeof value === 'number')
      return (types.includes('number') || types.includes('integer')) && fitsNumber(value, numbers)
    if (value === null) return types.includes('null')
    if (typeof value === 'boolean') return types.includes('boolean')
    refuseShaped(schemas, param)
    return types.includes(Array.isArray(value) ? 'array' : 'object')
  }
  const texts = [...new Set(values.filter(fits).map((value) => writtenExactly(value, param)))]
  budget.spend(
    texts.reduce((sum, each) => sum + each.length, 0),
    param,
  )
  return texts.length === 0
    ? undefined
    : oneOfTexts(
        texts.map((each) => [each, EMPTY]),
        parts.rules,
      )
}

/** An enumerated object or array is not held against other keywords. */
function refuseShaped(schemas: Conjunction, param: string): void {
  const key = schemas.flatMap((schema) => Object.keys(schema)).find((each) => SHAPE.test(each))
  if (key !== undefined)
    throw refuse(param, `${key} beside an enumerated object or array is not served`)
}

const SHAPE = /^(properties|required|.*Properties|propertyNames|dependentRequired|.*[iI]tems)$/
