// Arrays of a schema: a list, a tuple, or a tuple with a list behind it.
import { refuse } from '#inference/engine/fields.ts'
import { EMPTY, or, seq, text, times, type Expr } from './grammar.ts'
import { countOf, numbersOf } from './schema-keywords.ts'
import type { Conjunction } from './schema-document.ts'
import type { SchemaParts } from './schema-parts.ts'

/** Undefined: there is no such array. */
export function arrayExpr(
  schemas: Conjunction,
  parts: SchemaParts,
  depth: number,
): Expr | undefined {
  const { param } = parts.document
  const tuples = schemas.map((schema) => tupleOf(schema['prefixItems'] ?? schema['items'], param))
  const length = Math.max(0, ...tuples.map((tuple) => tuple.length))
  const least = Math.max(
    0,
    ...numbersOf(schemas, 'minItems', param).map(countOf('minItems', param)),
  )
  const most = Math.min(
    Number.POSITIVE_INFINITY,
    ...numbersOf(schemas, 'maxItems', param).map(countOf('maxItems', param)),
  )
  if (least > most) return undefined
  refuseRepeats(schemas, most, param)
  const rests = schemas.map((schema, index) => restOf(schema, tuples[index]?.length ?? 0))
  const first = Array.from({ length: Math.min(length, most) }, (_, place) =>
    parts.value(
      tuples.flatMap((tuple, index) =>
        place < tuple.length ? [tuple[place]] : (rests[index] ?? []),
      ),
      depth + 1,
    ),
  )
  const missing = first.indexOf(undefined)
  if (missing >= 0) return missing < least ? undefined : tuple(first.slice(0, missing), parts)
  // A tuple stays as long as it is, unless the schema allows further items.
  const isList = length === 0 || least > length || rests.some((rest) => rest.length > 0)
  const item = isList && most > length ? parts.value(rests.flat(), depth + 1) : undefined
  if (item === undefined) return least > first.length ? undefined : tuple(first, parts)
  const counts = { least: Math.max(0, least - length), most: most - length }
  return seq(
    text('['),
    list(
      first.filter((each) => each !== undefined),
      item,
      counts,
      parts,
    ),
    text(']'),
  )
}

const tuple = (members: readonly (Expr | undefined)[], { comma }: SchemaParts): Expr =>
  seq(
    text('['),
    ...members.flatMap((each, index) => [index > 0 ? comma : EMPTY, each ?? EMPTY]),
    text(']'),
  )

function list(
  first: readonly Expr[],
  item: Expr,
  { least, most }: { least: number; most: number },
  { comma, rules }: SchemaParts,
): Expr {
  const before = first.flatMap((each, index) => [index > 0 ? comma : EMPTY, each])
  const next = rules.add(seq(comma, item))
  if (first.length > 0) return seq(...before, times(next, least, most))
  const some = seq(item, times(next, Math.max(0, least - 1), most - 1))
  return least === 0 ? or([some, EMPTY]) : some
}

/** The members that have a schema each; `items` as a list is how drafts before 2020 wrote them. */
function tupleOf(value: unknown, param: string): readonly unknown[] {
  if (!Array.isArray(value)) return []
  if (value.length > TUPLE_MAX) throw refuse(param, `a tuple of more than ${TUPLE_MAX} members`)
  return value
}

const TUPLE_MAX = 1000

/** A schema's rules for the members behind its tuple. */
function restOf(schema: Conjunction[number], length: number): readonly unknown[] {
  const rest = Array.isArray(schema['items']) ? schema['additionalItems'] : schema['items']
  if (rest !== undefined) return [rest]
  return length > 0 && schema['unevaluatedItems'] !== undefined ? [schema['unevaluatedItems']] : []
}

function refuseRepeats(schemas: Conjunction, most: number, param: string): void {
  if (most > 1 && schemas.some((schema) => schema['uniqueItems'] === true))
    throw refuse(param, 'no grammar holds the keyword "uniqueItems"')
}
