// One expression as text to its value, or to the message of its fault; and values as the language writes them.
import { HclFault } from '#hcl/diagnostics.ts'
import { HCL_FUNCTIONS } from '#hcl/functions/functions.ts'
import { SourceText } from '#hcl/source-text.ts'
import { parseFile } from '#hcl/syntax/parse-body.ts'
import { isList, isObject, ResourceValue, sortedKeys, UnknownValue } from '#hcl/values/value.ts'
import type { HclValue } from '#hcl/values/value.ts'
import { evaluate } from './evaluate.ts'
import { EvaluationBudget } from './evaluation-budget.ts'

/** Throws HclFault. */
export function valueOfText(expression: string, names = new Map<string, HclValue>()): HclValue {
  const { body, diagnostics } = parseFile(new SourceText('a.hcl', `x = ${expression}\n`))
  const [fault] = diagnostics
  if (fault !== undefined) throw new HclFault(fault.range, fault.message, fault.hint)
  const value = body.attributes[0]?.value
  if (value === undefined) throw new RangeError('There is no attribute')
  return evaluate(value, { names, functions: HCL_FUNCTIONS, budget: new EvaluationBudget() })
}

/** `!` and the message of a fault. */
export function shown(expression: string, names?: Map<string, HclValue>): string {
  try {
    return written(valueOfText(expression, names))
  } catch (error) {
    if (!(error instanceof HclFault)) throw error
    return `! ${error.message}`
  }
}

export function written(value: HclValue): string {
  if (value instanceof UnknownValue) return `unknown(${value.needs.join(', ')})`
  if (value instanceof ResourceValue) return value.address
  if (value !== null && isList(value)) return `[${value.map(written).join(', ')}]`
  if (value !== null && isObject(value))
    return `{ ${sortedKeys(value)
      .map((key) => `${key} = ${written(value.get(key) ?? null)}`)
      .join(', ')} }`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
