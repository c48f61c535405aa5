// Signs and operators. Texts that are numbers are taken as numbers, as every HCL does; == compares types too.
import { HclFault } from '#hcl/diagnostics.ts'
import type { TextRange } from '#hcl/source-text.ts'
import type { BinaryOperator, ChainNode, Expression, UnaryNode } from '#hcl/syntax/nodes.ts'
import { NumericError, type Numeric } from '#hcl/values/numeric.ts'
import { asNumber, equalValues, kindOf, UnknownValue, type HclValue } from '#hcl/values/value.ts'
import type { HclContext } from './context.ts'
import { flagOf, numericOf, unknownOf } from './typed-values.ts'

export function evaluateUnary({ operator, operand }: UnaryNode, context: HclContext): HclValue {
  if (operator === '!') {
    const flag = flagOf(operand, context)
    return flag instanceof UnknownValue ? flag : !flag
  }
  const number = numericOf(operand, context)
  return number instanceof UnknownValue ? number : number.negated()
}

export function evaluateChain({ first, rest, range }: ChainNode, context: HclContext): HclValue {
  const operator = rest[0]?.operator
  if (operator === '&&' || operator === '||')
    return decide(
      { operands: [first, ...rest.map(({ operand }) => operand)], range },
      operator === '||',
      context,
    )
  if (operator === '==' || operator === '!=') return compareEqual({ first, rest, range }, context)
  return compute({ first, rest, range }, context)
}

type OperatorChain = Omit<ChainNode, 'kind'>

/** The first operand that decides ends the evaluation. Unknown ones wait for those behind them. */
function decide(
  { operands, range }: { readonly operands: readonly Expression[]; readonly range: TextRange },
  decisive: boolean,
  context: HclContext,
): HclValue {
  const unknown: UnknownValue[] = []
  for (const operand of operands) {
    const flag = flagOf(operand, context)
    if (flag instanceof UnknownValue) unknown.push(flag)
    else if (flag === decisive) return decisive
  }
  return unknown.length === 0 ? !decisive : unknownOf(unknown, range, context)
}

function compareEqual({ first, rest, range }: OperatorChain, context: HclContext): HclValue {
  let value = context.evaluate(first, context)
  for (const { operator, operand } of rest) {
    const other = context.evaluate(operand, context)
    const both = [value, other]
    for (const one of both) context.budget.made(range, one)
    if (both.some((one) => !context.budget.isKnown(one))) return unknownOf(both, range, context)
    value = equalValues(value, other) === (operator === '==')
  }
  return value
}

function compute({ first, rest, range }: OperatorChain, context: HclContext): HclValue {
  let value: HclValue = numericOf(first, context)
  for (const { operator, operand } of rest) {
    const left = value instanceof UnknownValue ? value : asNumber(value)
    const right = numericOf(operand, context)
    if (left === undefined)
      throw new HclFault(range, `Expected a number before ${operator}, found ${kindOf(value)}`)
    if (left instanceof UnknownValue || right instanceof UnknownValue)
      value = unknownOf([left, right], range, context)
    else {
      context.budget.spend(range, left.steps + right.steps)
      value = calculated(operator, left, right, range)
    }
  }
  return value
}

const CALCULATIONS: Partial<
  Record<BinaryOperator, (left: Numeric, right: Numeric) => Numeric | boolean>
> = {
  '+': (left, right) => left.plus(right),
  '-': (left, right) => left.minus(right),
  '*': (left, right) => left.times(right),
  '/': (left, right) => left.dividedBy(right),
  '%': (left, right) => left.remainder(right),
  '<': (left, right) => left.compare(right) < 0,
  '<=': (left, right) => left.compare(right) <= 0,
  '>': (left, right) => left.compare(right) > 0,
  '>=': (left, right) => left.compare(right) >= 0,
}

function calculated(
  operator: BinaryOperator,
  left: Numeric,
  right: Numeric,
  range: Expression['range'],
): HclValue {
  try {
    return CALCULATIONS[operator]?.(left, right) ?? null
  } catch (error) {
    if (!(error instanceof NumericError)) throw error
    throw new HclFault(range, `The result of ${operator} ${error.message}`)
  }
}
