// `for` in lists, objects and templates: the items of a list by their index, the entries of an object by their key.
import { HclFault } from '#hcl/diagnostics.ts'
import type { Expression, ForNode, NameNode } from '#hcl/syntax/nodes.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import { isList, isObject, kindOf, sortedKeys, UnknownValue } from '#hcl/values/value.ts'
import type { HclValue } from '#hcl/values/value.ts'
import { withNames, type HclContext } from './context.ts'
import { flagOf, keyOf } from './typed-values.ts'

type ForIntroNodes = {
  readonly keyName: NameNode | undefined
  readonly valueName: NameNode
  readonly collection: Expression
}

/** A context for each item; or the unknown value that the items are of. */
export function contextsOf(
  { keyName, valueName, collection }: ForIntroNodes,
  context: HclContext,
): HclContext[] | UnknownValue {
  const value = context.evaluate(collection, context)
  if (value instanceof UnknownValue) return value
  return entriesOf(value, collection).map(([key, item]) => {
    // Each item copies the names.
    context.budget.spend(collection.range, 1 + Math.ceil(context.names.size / 8))
    return withNames(context, [
      ...(keyName === undefined ? [] : [[keyName.text, key] as const]),
      [valueName.text, item],
    ])
  })
}

function entriesOf(value: HclValue, { range }: Expression): [HclValue, HclValue][] {
  if (value !== null && isList(value)) return value.map((item, index) => [Numeric.of(index), item])
  if (value !== null && isObject(value))
    return sortedKeys(value).map((key) => [key, value.get(key) ?? null])
  throw new HclFault(range, `Expected a list or an object after in, found ${kindOf(value)}`)
}

export function evaluateFor(node: ForNode, context: HclContext): HclValue {
  const contexts = contextsOf(node, context)
  if (contexts instanceof UnknownValue) return contexts
  const kept: HclContext[] = []
  for (const one of contexts) {
    const holds = node.condition === undefined || flagOf(node.condition, one)
    if (holds instanceof UnknownValue) return holds
    if (holds) kept.push(one)
  }
  const { key } = node
  if (key !== undefined) return objectOf(node, key, kept, context)
  return context.budget.made(
    node.range,
    kept.map((one) => one.evaluate(node.value, one)),
  )
}

function objectOf(
  node: ForNode,
  key: Expression,
  contexts: readonly HclContext[],
  { budget }: HclContext,
): HclValue {
  const groups = new Map<string, HclValue[]>()
  for (const one of contexts) {
    const name = keyOf(key, one)
    if (name instanceof UnknownValue) return name
    const group = groups.get(name) ?? []
    if (group.length > 0 && !node.grouped)
      throw new HclFault(key.range, `Two items have the key ${name}`, 'a list of both: value...')
    group.push(one.evaluate(node.value, one))
    groups.set(name, group)
  }
  const entries = [...groups].map(
    ([name, group]) =>
      [name, node.grouped ? budget.made(node.range, group) : (group[0] ?? null)] as const,
  )
  return budget.made(node.range, new Map(entries))
}
