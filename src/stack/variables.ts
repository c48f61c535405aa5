// Variables: a type, a default, or the value that the caller gives. A sensitive one stays unknown until it is revealed.
import { HclFault, meantOrAll } from '#hcl/diagnostics.ts'
import { SourceText } from '#hcl/source-text.ts'
import { parseFile } from '#hcl/syntax/parse-body.ts'
import type { BlockNode, Expression } from '#hcl/syntax/nodes.ts'
import { asFlag, asNumber, asText, isList, isObject, UnknownValue } from '#hcl/values/value.ts'
import type { HclValue } from '#hcl/values/value.ts'
import { unexpectedValue, type BlockReader } from './block-reader.ts'
import { IDENTIFIER } from './names.ts'

export type VariableValues = {
  /** Texts by the names of variables, as --var gives them. */
  readonly given: ReadonlyMap<string, string>
  /** Sensitive values are known: for an application, not for a plan. */
  readonly isRevealed: boolean
  /** An expression without names. Throws HclFault. */
  readonly evaluate: (node: Expression) => HclValue
}

const ATTRIBUTES = ['type', 'default', 'description', 'sensitive']

/** The values of `var`; faults go to the reader. */
export function readVariables(
  blocks: readonly BlockNode[],
  values: VariableValues,
  reader: BlockReader,
): Map<string, HclValue> {
  const read = new Map<string, HclValue>()
  for (const block of blocks) {
    const [label] = block.labels
    const name = label?.text ?? ''
    if (label === undefined || block.labels.length > 1 || !IDENTIFIER.isValid(name))
      reader.report(label ?? block.type, `Expected ${IDENTIFIER.expected} after variable`)
    else if (read.has(name)) reader.report(label, `Expected one variable ${name}, found another`)
    else {
      const value = reader.attempt(() => variableValue(block, name, values))
      read.set(name, value ?? new UnknownValue([`var.${name}`]))
    }
  }
  for (const name of values.given.keys())
    if (!read.has(name)) {
      const hint = meantOrAll(name, [...read.keys()])
      reader.report({ range: { start: 0, end: 0 } }, `The file has no variable ${name}`, hint)
    }
  return read
}

function variableValue(block: BlockNode, name: string, values: VariableValues): HclValue {
  const { attributes, blocks } = block.body
  const [inner] = blocks
  if (inner !== undefined) throw new HclFault(inner.type.range, 'A variable has no blocks')
  for (const { name: given } of attributes)
    if (!ATTRIBUTES.includes(given.text))
      throw new HclFault(
        given.range,
        `A variable has no attribute ${given.text}`,
        meantOrAll(given.text, ATTRIBUTES),
      )
  const node = (wanted: string) => attributes.find(({ name: { text } }) => text === wanted)?.value
  const [type, fallback, sensitive] = [node('type'), node('default'), node('sensitive')]
  const isHidden = sensitive !== undefined && asFlag(values.evaluate(sensitive)) === true
  const convert = typeOf(type)
  const text = values.given.get(name)
  const place = text === undefined ? (fallback ?? block.type) : block.type
  const unknown = isHidden && !values.isRevealed ? new UnknownValue([`var.${name}`]) : undefined
  if (text === undefined && fallback === undefined) {
    if (unknown !== undefined) return unknown
    const message = `The variable ${name} has no value`
    const hint = `give it by --var ${name}=…`
    throw new HclFault(block.type.range, message, hint, `${message}; ${hint}`)
  }
  const value =
    text === undefined && fallback !== undefined
      ? values.evaluate(fallback)
      : givenValue(text ?? '', type, values)
  const converted = value === null ? null : convert(value)
  if (converted !== undefined) return unknown ?? converted
  throw unexpectedValue(
    place.range,
    `${name} to be ${typeText(type)}`,
    isHidden ? undefined : value,
  )
}

/** A list or an object is written as in the file; everything else is plain text. */
function givenValue(
  text: string,
  type: Expression | undefined,
  { evaluate }: VariableValues,
): HclValue {
  if (type?.kind !== 'call') return text
  const { body } = parseFile(new SourceText('--var', `value = ${text}\n`))
  const node = body.attributes[0]?.value
  try {
    return node === undefined ? text : evaluate(node)
  } catch (error) {
    // Its places are in the option, not in the file.
    if (error instanceof HclFault) return text
    throw error
  }
}

type Conversion = (value: HclValue) => HclValue | undefined
const SIMPLE: Readonly<Record<string, Conversion>> = {
  string: asText,
  number: asNumber,
  bool: asFlag,
  any: (value) => value,
}
const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  bool: 'true or false',
}
const TYPE_HINT = 'there are string, number, bool, any, list(…) and map(…)'

/** Throws HclFault of a type that is none. */
function typeOf(node: Expression | undefined): Conversion {
  if (node === undefined) return (value) => value
  if (node.kind === 'reference' && Object.hasOwn(SIMPLE, node.name))
    return SIMPLE[node.name] ?? ((value) => value)
  const [argument, ...others] = node.kind === 'call' ? node.args : []
  if (node.kind !== 'call' || argument === undefined || others.length > 0)
    throw new HclFault(node.range, 'Expected a type', TYPE_HINT)
  const inner = typeOf(argument)
  if (node.name.text === 'list') return (value) => listOf(value, inner)
  if (node.name.text === 'map') return (value) => mapOf(value, inner)
  throw new HclFault(node.range, 'Expected a type', TYPE_HINT)
}

function listOf(value: HclValue, inner: Conversion): HclValue | undefined {
  if (value === null || !isList(value)) return undefined
  const items = value.map(inner)
  return items.every((item) => item !== undefined) ? items : undefined
}

function mapOf(value: HclValue, inner: Conversion): HclValue | undefined {
  if (value === null || !isObject(value)) return undefined
  const entries = [...value].map(([key, item]) => [key, inner(item)] as const)
  const known = entries.flatMap(([key, item]) => (item === undefined ? [] : [[key, item] as const]))
  return known.length === entries.length ? new Map(known) : undefined
}

function typeText(node: Expression | undefined): string {
  if (node?.kind === 'reference') return WORDS[node.name] ?? 'a value'
  return node?.kind === 'call' ? `a ${node.name.text} of its type` : 'a value'
}
