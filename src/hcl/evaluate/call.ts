// Calls: arguments by the kinds that the function takes. An unknown argument makes the result unknown.
import { didYouMean } from '#base/nearest.ts'
import { HclFault } from '#hcl/diagnostics.ts'
import { argumentOf, HclArgumentError, type HclFunction } from '#hcl/functions/function.ts'
import type { CallNode, Expression } from '#hcl/syntax/nodes.ts'
import { NumericError } from '#hcl/values/numeric.ts'
import { isList, kindOf, UnknownValue, type HclValue } from '#hcl/values/value.ts'
import type { HclContext } from './context.ts'
import { HclLimitFault } from './evaluation-budget.ts'
import { unknownOf } from './typed-values.ts'

type Argument = { readonly value: HclValue; readonly node: Expression }

export function call(node: CallNode, context: HclContext): HclValue {
  const name = node.name.text
  if (name === 'try' || name === 'can') return attempt(node, context)
  const named = context.functions.get(name)
  if (named === undefined) {
    const hint = didYouMean(name, [...context.functions.keys(), 'try', 'can'])
    const page = 'docs/reference/description-file.md has them'
    throw new HclFault(node.name.range, `There is no function ${name}`, hint ?? page)
  }
  const args = argumentsOf(node, context)
  checkCount(node, named, args.length)
  const waits = args.filter(({ value }) =>
    named.keepsUnknown ? value instanceof UnknownValue : !context.budget.isKnown(value),
  )
  if (waits.length > 0) {
    for (const { value, node: argument } of waits) context.budget.made(argument.range, value)
    return unknownOf(
      waits.map(({ value }) => value),
      node.range,
      context,
    )
  }
  return result(node, named, args, context)
}

function argumentsOf({ args, expands }: CallNode, context: HclContext): Argument[] {
  return args.flatMap((node, index) => {
    const value = context.evaluate(node, context)
    if (!expands || index < args.length - 1 || value instanceof UnknownValue)
      return [{ value, node }]
    if (value !== null && isList(value)) return value.map((item) => ({ value: item, node }))
    throw new HclFault(node.range, `Expected a list before ..., found ${kindOf(value)}`)
  })
}

function checkCount(node: CallNode, { takes, rest, usage }: HclFunction, count: number): void {
  const [least, most] = [takes.length, rest === undefined ? takes.length : Infinity]
  if (count >= least && count <= most) return
  const expected = `${most === Infinity ? 'at least ' : ''}${least}`
  const message = `Expected ${expected} argument${least === 1 ? '' : 's'}, found ${count}`
  throw new HclFault(node.range, message, `it is called so: ${usage}`)
}

function result(
  node: CallNode,
  named: HclFunction,
  args: readonly Argument[],
  { budget }: HclContext,
): HclValue {
  let at: Expression = node
  try {
    const values = args.map(({ value, node: argument }, index) => {
      at = argument
      budget.made(argument.range, value)
      if (named.keepsUnknown !== true) budget.read(argument.range, value)
      return argumentOf(value, named.takes[index] ?? named.rest ?? 'any')
    })
    at = node
    return budget.made(node.range, named.run(values))
  } catch (error) {
    if (error instanceof HclArgumentError || error instanceof NumericError)
      throw new HclFault(at.range, `${node.name.text}(): ${error.message}`, `usage: ${named.usage}`)
    throw error
  }
}

/** try(): the first argument that can be evaluated. can(): whether its argument can. */
function attempt(node: CallNode, context: HclContext): HclValue {
  const isTry = node.name.text === 'try'
  if (node.args.length === 0 || (!isTry && node.args.length > 1) || node.expands)
    throw new HclFault(node.range, isTry ? 'Expected values to try' : 'Expected 1 argument')
  let last: HclFault | undefined
  for (const argument of node.args) {
    try {
      const value = context.evaluate(argument, context)
      return isTry || value instanceof UnknownValue ? value : true
    } catch (error) {
      if (!(error instanceof HclFault) || error instanceof HclLimitFault) throw error
      last = error
    }
  }
  if (!isTry || last === undefined) return false
  throw new HclFault(node.range, `No argument of try() has a value: ${last.message}`)
}
