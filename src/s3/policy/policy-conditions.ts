// The Condition element of policies: IAM's "Condition operators", with what it says of absent keys.
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Judging } from './judging.ts'
import { COMPARISONS } from './policy-comparisons.ts'
import { conditionKey, type Context } from './policy-context.ts'

export type PolicyCondition = {
  /** The operator without `IfExists` and without a set's prefix: a name of `COMPARISONS`, or `Null`. */
  readonly operator: string
  readonly key: string
  readonly values: readonly string[]
  readonly ifExists: boolean
  readonly set: 'any' | 'all' | 'none'
}

/** The cost of each value of a condition, besides its comparison. */
const VALUE_STEPS = 16

/** True when every condition holds; true when there are none. */
export const conditionsHold = (
  conditions: readonly PolicyCondition[],
  { context, judging }: { readonly context: Context; readonly judging: Judging },
): boolean =>
  conditions.every((condition) => {
    const found = context(condition.key)
    return judging.once(condition, found ?? [], () => holds(condition, found, judging))
  })

function holds(
  condition: PolicyCondition,
  found: readonly string[] | undefined,
  judging: Judging,
): boolean {
  const { operator, values, ifExists, set } = condition
  const absent = found === undefined || found.length === 0
  if (operator === 'Null') return values.some((value) => (value === 'true') === absent)
  if (absent && ifExists) return true
  const comparison = COMPARISONS.get(operator)
  if (comparison === undefined) return false
  const { negated, matches } = comparison
  const fits = (one: string) =>
    values.some((value) => {
      // Most operators read the whole value again for each wanted value.
      judging.spend(VALUE_STEPS + one.length)
      return matches(value, one, judging)
    }) !== negated
  if (absent) return set === 'all' || (set === 'none' && negated)
  // Several values without a set's prefix: a negated operator must hold for each.
  if (set === 'all' || (set === 'none' && negated)) return found.every(fits)
  return found.some(fits)
}

/** Reads a Condition element; undefined means no conditions. Throws MalformedPolicy. */
export function parseConditions(value: unknown): PolicyCondition[] {
  if (value === undefined) return []
  return entries(value).flatMap(([name, body]) => {
    const operator = parseOperator(name)
    return entries(body).map(([key, wanted]) => {
      const values = parseValues(wanted)
      if (!values.every((one) => operator.valid(one)))
        throw malformed(`Invalid value for the condition ${name} of ${key}`)
      const { valid: _, ...rest } = operator
      return { ...rest, key: parseKey(key), values }
    })
  })
}

type Operator = Pick<PolicyCondition, 'operator' | 'ifExists' | 'set'> & {
  readonly valid: (value: string) => boolean
}

function parseOperator(name: string): Operator {
  const found = /^(?:(ForAnyValue|ForAllValues):)?([A-Za-z]+?)(IfExists)?$/.exec(name)
  const [, prefix, operator = '', ifExists] = found ?? []
  const set = prefix === undefined ? 'none' : prefix === 'ForAnyValue' ? 'any' : 'all'
  if (operator === 'Null' && set === 'none' && ifExists === undefined)
    return { operator, ifExists: false, set, valid: (value) => /^(true|false)$/.test(value) }
  const comparison = COMPARISONS.get(operator)
  if (comparison === undefined) throw malformed(`Invalid Condition type : ${name}`)
  return { operator, ifExists: ifExists !== undefined, set, valid: comparison.valid }
}

function parseKey(key: string): string {
  const known = conditionKey(key)
  if (known === undefined) throw malformed('Policy has an invalid condition key')
  return known
}

function parseValues(wanted: unknown): string[] {
  const list: unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  if (list.length === 0) throw malformed('Could not parse the policy: a condition has no values')
  return list.map((value) => {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw malformed('Could not parse the policy: a condition value is not a string')
    const text = String(value)
    if (text.includes('${')) throw malformed('Policy has a policy variable, which is not supported')
    return text
  })
}

function entries(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('Could not parse the policy: a condition is not an object')
  return Object.entries(value)
}

const malformed = (message: string) => storageFault('MalformedPolicy', message)
