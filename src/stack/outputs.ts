// Outputs: values that an application prints when it has ended.
import type { BlockNode } from '#hcl/syntax/nodes.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import { isList, isObject, ResourceValue, UnknownValue, type HclValue } from '#hcl/values/value.ts'
import type { BlockReader } from './block-reader.ts'
import type { BlockType } from './block-type.ts'
import { pendingOf, required, textField, type StackField } from './field.ts'
import { IDENTIFIER } from './names.ts'
import type { StackOutput } from './stack.ts'

const value: StackField<{ value: HclValue }> = {
  help: 'Any value',
  expected: 'a value',
  read: (one) => (one instanceof ResourceValue ? undefined : { value: one }),
}
const OUTPUT = {
  help: 'A value that is printed after an application',
  label: IDENTIFIER,
  attributes: { value: required(value), description: textField({ help: 'Words of your own' }) },
} as const satisfies BlockType

export function readOutputs(blocks: readonly BlockNode[], reader: BlockReader): StackOutput[] {
  const seen = new Set<string>()
  return blocks.flatMap((block) => {
    const [label] = block.labels
    const spec = reader.read(block, OUTPUT)
    const read = spec['value']
    if (label !== undefined && seen.has(label.text))
      reader.report(label, `Expected one output ${label.text}, found another`)
    seen.add(label?.text ?? '')
    if (label === undefined || read === undefined) return []
    const description = typeof spec['description'] === 'string' ? spec['description'] : ''
    return [{ name: label.text, description, value: plainOf(read) }]
  })
}

/** The attribute is pending, or the value that the field has read. */
function plainOf(read: unknown): unknown {
  return isRead(read) ? jsonData(read.value) : read
}

const isRead = (read: unknown): read is { value: HclValue } =>
  typeof read === 'object' && read !== null && 'value' in read

function jsonData(one: HclValue): unknown {
  if (one === null || typeof one !== 'object') return one
  if (one instanceof UnknownValue) return pendingOf(one)
  if (one instanceof ResourceValue) return one.address
  if (one instanceof Numeric) {
    const figure = Number(one.toString())
    return String(figure) === one.toString() ? figure : one.toString()
  }
  if (isList(one)) return one.map((item) => jsonData(item))
  return isObject(one)
    ? Object.fromEntries([...one].map(([key, item]) => [key, jsonData(item)]))
    : null
}
