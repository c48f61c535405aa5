// Samples of the data of each event type, for synthetic events: made from the schemas, so each type has one.
import { z } from 'zod'
import { EVENTS } from '#contract/events.ts'
import { bucketOfWord, OBJECT_CREATED, objectsOf } from '#contract/storage/object-created.ts'

/** The type that a word of an endpoint asks for; undefined where it is none. */
export function typeOfWanted(wanted: string): string | undefined {
  if (bucketOfWord(wanted) !== undefined) return OBJECT_CREATED
  return Object.hasOwn(EVENTS, wanted) ? wanted : undefined
}

/** Why the word asks for nothing, with the words that do. */
export const noType = (wanted: string): string =>
  `there is no type "${wanted.slice(0, 100)}": ${Object.keys(EVENTS).join(', ')}, ${objectsOf('<bucket>')}`

/** Data of a synthetic event, without its account and sequence; undefined for an unknown type. */
export function sampleOf(type: string): Record<string, unknown> | undefined {
  const entry = Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined
  if (entry === undefined) return undefined
  const {
    account_id: _account,
    sequence: _sequence,
    ...data
  } = valueOf(z.toJSONSchema(entry.data) as JsonShape) as Record<string, unknown>
  return data
}

type JsonShape = {
  readonly type?: string
  readonly example?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, JsonShape>>
  readonly items?: JsonShape
  readonly anyOf?: readonly JsonShape[]
}

/** Text for a pattern that has no example of its own. */
const TEXTS = ['sample', '0', 'a', 'A']

function valueOf(shape: JsonShape): unknown {
  if (shape.example !== undefined) return shape.example
  if (shape.const !== undefined) return shape.const
  if (shape.enum !== undefined) return shape.enum[0]
  const [first] = shape.anyOf ?? []
  if (first !== undefined) return valueOf(first)
  switch (shape.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(shape.properties ?? {}).map(([name, one]) => [name, valueOf(one)]),
      )
    case 'array':
      return [valueOf(shape.items ?? {})]
    case 'integer':
    case 'number':
      return Math.max(shape.minimum ?? 0, 0)
    case 'boolean':
      return true
    case 'null':
      return null
    default: {
      const { pattern } = shape
      return TEXTS.find((text) => pattern === undefined || new RegExp(pattern).test(text))
    }
  }
}
