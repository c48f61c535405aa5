// Present and wanted attributes: their differences, and the part of those that may be shown.
import { createHmac } from 'node:crypto'
import type { DeploymentPlan } from '#contract/deployments/deployments.ts'
import { isPending, type StackAttribute, type StackAttributes } from '#resources/stack-part.ts'

export type PlannedChange = DeploymentPlan['steps'][number]['changes'][number]

/** The attributes that `before` lacks or has otherwise. Values that are pending in `shown` alone are made of sensitive ones. */
export function differences(
  before: StackAttributes | undefined,
  wanted: StackAttributes,
  shown: StackAttributes,
): PlannedChange[] {
  const names = Object.keys({ ...wanted, ...before })
  return names.flatMap((attribute) => {
    const [old, next] = [before?.[attribute], wanted[attribute]]
    if (isSameAttribute(old, next)) return []
    const pending = isPending(next)
    const isSensitive = isPending(shown[attribute]) && !pending
    const hidden = isSensitive || isHidden(old) || isHidden(next)
    const text = (value: StackAttribute | undefined) =>
      typeof value === 'string' && !hidden ? value : null
    return [{ attribute, before: text(old), after: text(next), hidden, pending }]
  })
}

export const changedNames = (
  before: StackAttributes | undefined,
  wanted: StackAttributes,
): ReadonlySet<string> =>
  new Set(differences(before, wanted, wanted).map(({ attribute }) => attribute))

/** Nothing is the same as an attribute that is absent or pending. */
export function isSameAttribute(
  a: StackAttribute | undefined,
  b: StackAttribute | undefined,
): boolean {
  if (isHidden(a) && isHidden(b)) return a.hidden === b.hidden
  return typeof a === 'string' && a === b
}

const isHidden = (value: StackAttribute | undefined): value is { readonly hidden: string } =>
  typeof value === 'object' && 'hidden' in value

/** Attributes as the state keeps them: digests, which nobody without the key can compare. */
export const digestsOf = (
  attributes: StackAttributes,
  key: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, digest(JSON.stringify(value), key)]),
  )

const digest = (text: string, key: string): string =>
  createHmac('sha256', key).update(text).digest('base64url')
