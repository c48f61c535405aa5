// Expressions whose value must be of one kind, unless it is not known yet.
import { HclFault } from '#hcl/diagnostics.ts'
import type { TextRange } from '#hcl/source-text.ts'
import type { Expression } from '#hcl/syntax/nodes.ts'
import type { Numeric } from '#hcl/values/numeric.ts'
import { asFlag, asNumber, asText, kindOf, UnknownValue } from '#hcl/values/value.ts'
import type { HclValue } from '#hcl/values/value.ts'
import type { HclContext } from './context.ts'

const typed =
  <T>(read: (value: HclValue) => T | undefined, expected: string) =>
  (node: Expression, context: HclContext): T | UnknownValue => {
    const value = context.evaluate(node, context)
    const found = value instanceof UnknownValue ? value : read(value)
    if (found === undefined)
      throw new HclFault(node.range, `Expected ${expected}, found ${kindOf(value)}`)
    return found
  }

/** Each throws HclFault of another value. */
export const flagOf = typed<boolean>(asFlag, 'true or false')
export const keyOf = typed<string>(asText, 'a text as the key')
export const numericOf = typed<Numeric>(asNumber, 'a number')

/** A value that waits for the same addresses as the given values together. Spends a step for each address. */
export function unknownOf(
  values: readonly HclValue[],
  range: TextRange,
  { budget }: HclContext,
): UnknownValue {
  const needs = values.map((value) => budget.needsOf(value))
  budget.spend(
    range,
    needs.reduce((sum, { length }) => sum + length, 0),
  )
  return new UnknownValue([...new Set(needs.flat())])
}
