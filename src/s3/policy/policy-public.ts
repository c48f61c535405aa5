// Whether a bucket policy is public, as AWS defines it ("Blocking public access", "The meaning of
// public"): it allows someone who is not named, and no condition narrows that to fixed values.
import { parseSubnet } from '#base/subnets.ts'
import type { Condition } from './policy-conditions.ts'
import type { Policy, Statement } from './policy.ts'
import { NOBODY } from './policy-context.ts'
import { isFixed } from './wildcards.ts'

/** Keys that narrow a statement to known callers when their values are fixed. */
const NARROWING_KEYS: ReadonlySet<string> = new Set([
  'aws:principalaccount',
  'aws:sourceaccount',
  'aws:sourcearn',
  'aws:userid',
  's3:x-amz-server-side-encryption-aws-kms-key-id',
])
const NARROWING_OPERATORS = /^(String(Equals|EqualsIgnoreCase|Like)|Arn(Equals|Like))$/

/** Ranges wider than these are the public too. */
const SUBNET_BITS_MIN = { 4: 8, 6: 32 } as const

export const isPublicPolicy = (policy: Pick<Policy, 'statements'>): boolean =>
  policy.statements.some(isPublicStatement)

/** Whether one statement alone lets the public in. */
export function isPublicStatement(statement: Statement): boolean {
  const { effect, principals, conditions } = statement
  if (effect === 'Deny') return false
  return (principals.not || principals.patterns.includes('*')) && !conditions.some(narrows)
}

function narrows({ operator, key, values, ifExists, set }: Condition): boolean {
  // Both also hold where the request has no such key.
  if (ifExists || set === 'all') return false
  if (key === 'aws:sourceip') return operator === 'IpAddress' && values.every(isNarrowSubnet)
  return NARROWING_KEYS.has(key) && NARROWING_OPERATORS.test(operator) && values.every(isNamed)
}

/** Whether it is one caller; all who have no name have the same `aws:userid`. */
const isNamed = (value: string): boolean => isFixed(value) && value.toLowerCase() !== NOBODY

function isNarrowSubnet(value: string): boolean {
  const subnet = parseSubnet(value)
  return subnet !== undefined && subnet.bits >= SUBNET_BITS_MIN[subnet.family]
}
