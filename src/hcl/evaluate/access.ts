// .name, [key] and splats on values. A splat of null is an empty list, of a single value a list of it.
import { HclFault, meantOrAll } from '#hcl/diagnostics.ts'
import type { AccessNode, AccessStep } from '#hcl/syntax/nodes.ts'
import {
  asNumber,
  asText,
  isList,
  isObject,
  kindOf,
  ResourceValue,
  sortedKeys,
  UnknownValue,
  type HclList,
  type HclObject,
  type HclValue,
} from '#hcl/values/value.ts'
import type { HclContext } from './context.ts'

export const access = ({ of, steps }: AccessNode, context: HclContext): HclValue =>
  follow(context.evaluate(of, context), steps, context)

function follow(from: HclValue, steps: readonly AccessStep[], context: HclContext): HclValue {
  let value = from
  for (const [index, step] of steps.entries()) {
    if (value instanceof UnknownValue) return value
    if (step.kind === 'splat') return splat(value, { step, rest: steps.slice(index + 1) }, context)
    context.budget.spend(step.range)
    value = step.kind === 'attribute' ? attributeOf(value, step) : itemOf(value, step, context)
  }
  return value
}

type Splat = {
  readonly step: AccessStep & { kind: 'splat' }
  readonly rest: readonly AccessStep[]
}

function splat(value: HclValue, { step, rest }: Splat, context: HclContext): HclValue {
  const end = step.full ? -1 : rest.findIndex(({ kind }) => kind !== 'attribute')
  const each = end === -1 ? rest : rest.slice(0, end)
  const items = value === null ? [] : isList(value) ? value : [value]
  const list = context.budget.made(
    step.range,
    items.map((item) => follow(item, each, context)),
  )
  return follow(list, rest.slice(each.length), context)
}

function attributeOf(
  value: HclValue,
  { name, range }: AccessStep & { kind: 'attribute' },
): HclValue {
  if (value instanceof ResourceValue) return memberOf(value.attributes, name, range, value.address)
  if (value !== null && isObject(value)) return memberOf(value, name, range, 'the object')
  const hint = value !== null && isList(value) ? `of every item: [*].${name}` : undefined
  throw new HclFault(range, `Expected an object before .${name}, found ${kindOf(value)}`, hint)
}

function memberOf(
  object: HclObject,
  name: string,
  range: AccessStep['range'],
  owner: string,
): HclValue {
  const member = object.get(name)
  if (member !== undefined) return member
  throw new HclFault(range, `There is no ${name} in ${owner}`, meantOrAll(name, sortedKeys(object)))
}

function itemOf(
  value: HclValue,
  { key, range }: AccessStep & { kind: 'index' },
  context: HclContext,
): HclValue {
  const at = context.evaluate(key, context)
  if (at instanceof UnknownValue) return at
  if (value !== null && isList(value)) return elementOf(value, at, range)
  const name = asText(at)
  if (name === undefined) throw new HclFault(range, `Expected a key, found ${kindOf(at)}`)
  return attributeOf(value, { kind: 'attribute', name, range })
}

function elementOf(list: HclList, at: HclValue, range: AccessStep['range']): HclValue {
  const index = asNumber(at)?.toInteger()
  if (index === undefined) throw new HclFault(range, `Expected a whole number, found ${kindOf(at)}`)
  const element = index < 0 ? undefined : list[index]
  if (element !== undefined) return element
  throw new HclFault(range, `The list has no item ${index}`, `it has ${list.length}, from 0`)
}
