// An attribute of the description file as data: what it must be, how it is read, and the words of its guide.
import { VARIABLE_NAME } from '#contract/functions/function-limits.ts'
import {
  asFlag,
  asNumber,
  asText,
  isList,
  isObject,
  ResourceValue,
  UnknownValue,
  type HclValue,
} from '#hcl/values/value.ts'

/** Known after the resources or variables that it names are: database.orders.url. */
export type Pending = { readonly pending: readonly string[] }

export type StackField<T = unknown> = {
  readonly help: string
  /** Completes "Expected …". */
  readonly expected: string
  /** Undefined of a value that is none. */
  readonly read: (value: HclValue) => T | undefined
  readonly isRequired?: true
  /** The fault of an item of the list; undefined where the item is right. */
  readonly faultOf?: (item: HclValue) => ItemFault | undefined
}
type ItemFault = { readonly message: string; readonly hint?: string }

type Words = { readonly help: string; readonly expected?: string }
type TextWords = Words & { readonly pattern?: RegExp; readonly charactersMax?: number }

const TEXT_CHARACTERS_MAX = 4096

/** A text that the pattern matches; a text without control characters where there is no pattern. */
export const textField = ({
  help,
  expected = 'a text',
  pattern = /^\P{Cc}*$/u,
  charactersMax = TEXT_CHARACTERS_MAX,
}: TextWords): StackField<string> => ({
  help,
  expected,
  read: (value) => readText(value, pattern, charactersMax),
})

function readText(value: HclValue, pattern: RegExp, charactersMax: number): string | undefined {
  const text = asText(value)
  return text !== undefined && text.length <= charactersMax && pattern.test(text) ? text : undefined
}

/** A text that a function makes something of: undefined of texts that are none. */
export const parsedField = <T>(
  words: Required<Words>,
  parse: (text: string) => T | undefined,
): StackField<T> => ({
  ...words,
  read: (value) => (typeof value === 'string' ? parse(value) : undefined),
})

export const integerField = (
  help: string,
  { least, most }: { least: number; most: number },
): StackField<number> => ({
  help,
  expected: `a whole number from ${least} to ${most}`,
  read: (value) => {
    const figure = asNumber(value)?.toInteger()
    return figure !== undefined && figure >= least && figure <= most ? figure : undefined
  },
})

export const flagField = (help: string): StackField<boolean> => ({
  help,
  expected: 'true or false',
  read: asFlag,
})

const ITEMS_MAX = 100
const ENVIRONMENT_CHARACTERS_MAX = 65_536
const NO_NUL = /^[^\0]*$/u

/** A list of 1 to 100 texts, each without a fault. */
export const textsField = (
  { help, expected = 'a list of texts' }: Words,
  faultOf: (text: string) => ItemFault | undefined = () => undefined,
): StackField<string[]> => ({
  help,
  expected,
  faultOf: (item) => (typeof item === 'string' ? faultOf(item) : undefined),
  read: (value) => {
    if (value === null || !isList(value) || value.length < 1 || value.length > ITEMS_MAX)
      return undefined
    const texts = value.flatMap((item) => readText(item, NO_NUL, TEXT_CHARACTERS_MAX) ?? [])
    return texts.length === value.length && texts.every((text) => faultOf(text) === undefined)
      ? texts
      : undefined
  },
})

/** An object of texts by names of environment variables; some texts may be pending. */
export const environmentField = (help: string): StackField<Record<string, string | Pending>> => ({
  help,
  expected:
    'an object of texts, whose keys have letters, digits and _ and do not begin with SVC_, such as { LOG = "info" }',
  read: (value) => {
    if (value === null || !isObject(value) || value.size > ITEMS_MAX) return undefined
    const read = [...value].map(([name, item]) => {
      const text =
        item instanceof UnknownValue
          ? pendingOf(item)
          : readText(item, NO_NUL, ENVIRONMENT_CHARACTERS_MAX)
      return VARIABLE_NAME.test(name) && text !== undefined ? ([name, text] as const) : undefined
    })
    return read.every((entry) => entry !== undefined) ? Object.fromEntries(read) : undefined
  },
})

/** Another resource of the file, of one of the types, as its address. */
export const resourceField = (help: string, ...types: readonly string[]): StackField<string> => ({
  help,
  expected: types.map((type) => `${type}.<name>`).join(' or '),
  read: (value) =>
    value instanceof ResourceValue && types.includes(value.type) ? value.address : undefined,
})

export const required = <T>(field: StackField<T>): StackField<T> & { isRequired: true } => ({
  ...field,
  isRequired: true,
})

export const pendingOf = ({ needs }: UnknownValue): Pending => ({ pending: needs })
