// A function as the table has it: the page of functions is printed from it, and its example is a test.
import type { Numeric } from '#hcl/values/numeric.ts'
import {
  asNumber,
  asText,
  isList,
  isObject,
  kindOf,
  type HclList,
  type HclObject,
  type HclValue,
} from '#hcl/values/value.ts'

type Kinds = {
  readonly text: string
  readonly number: Numeric
  readonly integer: number
  readonly list: HclList
  readonly object: HclObject
  readonly any: HclValue
}
type Kind = keyof Kinds
type ValuesOf<Takes extends readonly Kind[]> = { -readonly [At in keyof Takes]: Kinds[Takes[At]] }

export type HclFunction = {
  readonly usage: string
  readonly help: string
  /** An expression and its value, both in the language. */
  readonly example: readonly [call: string, gives: string]
  readonly takes: readonly Kind[]
  /** The kind of further arguments; undefined where there are none. */
  readonly rest?: Kind
  /** Parts of the arguments may be unknown: the function does not look into them. */
  readonly keepsUnknown?: true
  readonly run: (args: readonly Kinds[Kind][]) => HclValue
}

type Definition<Takes extends readonly Kind[], Rest extends Kind> = Omit<
  HclFunction,
  'run' | 'takes' | 'rest'
> & {
  readonly takes: Takes
  readonly rest?: Rest
  readonly run: (...args: [...ValuesOf<Takes>, ...Kinds[Rest][]]) => HclValue
}

/** A row of the table; `run` has the types that `takes` and `rest` name. */
export const hclFunction = <const Takes extends readonly Kind[], Rest extends Kind = never>(
  definition: Definition<Takes, Rest>,
): HclFunction => ({
  ...definition,
  // The caller has made each argument by argumentOf(), in the order of `takes` and `rest`.
  run: (args) => definition.run(...(args as [...ValuesOf<Takes>, ...Kinds[Rest][]])),
})

/** The value does not suit the function. */
export class HclArgumentError extends TypeError {
  override readonly name = 'HclArgumentError'
}

/** The value as an argument of a kind. Throws HclArgumentError of one that is not. */
export function argumentOf(value: HclValue, kind: Kind): Kinds[Kind] {
  const read = READERS[kind](value)
  if (read === undefined)
    throw new HclArgumentError(`Expected ${NAMES[kind]}, found ${kindOf(value)}`)
  return read
}

const READERS: { readonly [K in Kind]: (value: HclValue) => Kinds[K] | undefined } = {
  text: asText,
  number: asNumber,
  integer: (value) => asNumber(value)?.toInteger(),
  list: (value) => (value !== null && isList(value) ? value : undefined),
  object: (value) => (value !== null && isObject(value) ? value : undefined),
  any: (value) => value,
}
const NAMES: Readonly<Record<Kind, string>> = {
  text: 'a text',
  number: 'a number',
  integer: 'a whole number',
  list: 'a list',
  object: 'an object',
  any: 'a value',
}

/** The items of a list as texts. Throws HclArgumentError of an item that is none. */
export const textItems = (list: HclList): string[] =>
  list.map((item) => {
    const text = asText(item)
    if (text === undefined)
      throw new HclArgumentError(`Expected texts in the list, found ${kindOf(item)}`)
    return text
  })
