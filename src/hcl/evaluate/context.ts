// The surroundings of an expression: names, functions, and the budget of its file.
import type { HclFunction } from '#hcl/functions/function.ts'
import type { Expression } from '#hcl/syntax/nodes.ts'
import type { HclValue } from '#hcl/values/value.ts'
import type { EvaluationBudget } from './evaluation-budget.ts'

export type HclContext = {
  /** An expression within this context, or within one of other names. Throws HclFault. */
  readonly evaluate: (node: Expression, context: HclContext) => HclValue
  /** var, local, the types of resources; and within a `for` its own names. */
  readonly names: ReadonlyMap<string, HclValue>
  readonly functions: ReadonlyMap<string, HclFunction>
  readonly budget: EvaluationBudget
}

/** The context with names of its own, which hide those of the same word. */
export const withNames = (
  context: HclContext,
  added: Iterable<readonly [string, HclValue]>,
): HclContext => ({ ...context, names: new Map([...context.names, ...added]) })
