// Expressions to values. Of && and ||, and of a conditional, only the needed part is evaluated.
import { HclFault, meantOrAll } from '#hcl/diagnostics.ts'
import type { Expression } from '#hcl/syntax/nodes.ts'
import { UnknownValue } from '#hcl/values/value.ts'
import type { HclObject, HclValue } from '#hcl/values/value.ts'
import { access } from './access.ts'
import { call } from './call.ts'
import type { HclContext } from './context.ts'
import { evaluateFor } from './for-each.ts'
import { evaluateChain, evaluateUnary } from './operators.ts'
import { evaluateTemplate } from './template.ts'
import { flagOf, keyOf } from './typed-values.ts'

/** Throws HclFault. */
export const evaluate = (node: Expression, context: Omit<HclContext, 'evaluate'>): HclValue =>
  valueOf(node, { ...context, evaluate: valueOf })

function valueOf(node: Expression, context: HclContext): HclValue {
  context.budget.spend(node.range)
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'template':
      return evaluateTemplate(node, context)
    case 'list': {
      const items = node.items.map((item) => valueOf(item, context))
      return context.budget.made(node.range, items)
    }
    case 'object':
      return evaluateObject(node, context)
    case 'reference':
      return evaluateReference(node, context)
    case 'access':
      return access(node, context)
    case 'call':
      return call(node, context)
    case 'unary':
      return evaluateUnary(node, context)
    case 'chain':
      return evaluateChain(node, context)
    case 'conditional': {
      const condition = flagOf(node.condition, context)
      if (condition instanceof UnknownValue) return condition
      return valueOf(condition ? node.then : node.otherwise, context)
    }
    case 'for':
      return evaluateFor(node, context)
    case 'parentheses':
      return valueOf(node.inner, context)
  }
}

function evaluateReference(
  { name, range }: Expression & { kind: 'reference' },
  { names }: HclContext,
): HclValue {
  const value = names.get(name)
  if (value !== undefined) return value
  const hint = `${meantOrAll(name, [...names.keys()])}; a text has quotes`
  throw new HclFault(range, `Nothing is named ${name} here`, hint)
}

function evaluateObject(
  node: Expression & { kind: 'object' },
  context: HclContext,
): HclObject | UnknownValue {
  const made = new Map<string, HclValue>()
  for (const { key, value } of node.entries) {
    const name = keyOf(key, context)
    if (name instanceof UnknownValue) return name
    if (made.has(name)) throw new HclFault(key.range, `Expected the key ${name} once in the object`)
    made.set(name, valueOf(value, context))
  }
  return context.budget.made(node.range, made)
}
