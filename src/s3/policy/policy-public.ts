// Decides whether a bucket policy is public, by AWS's definition ("Blocking public access", "The meaning of public"):
// it allows an unnamed caller, and no condition restricts that to fixed values.
import { parseSubnet } from '#base/subnets.ts'
import type { PolicyCondition } from './policy-conditions.ts'
import type { Policy, Statement } from './policy.ts'
import { ANONYMOUS } from './policy-context.ts'
import { isFixed } from './wildcards.ts'

/** Keys that restrict a statement to known callers when their values are fixed. */
const NARROWING_KEYS: ReadonlySet<string> = new Set([
  'aws:principalaccount',
  'aws:sourceaccount',
  'aws:sourcearn',
  'aws:userid',
  's3:x-amz-server-side-encryption-aws-kms-key-id',
])
const NARROWING_OPERATORS = /^(String(Equals|EqualsIgnoreCase|Like)|Arn(Equals|Like))$/

/** Wider address ranges are public too. */
const SUBNET_BITS_MIN = { 4: 8, 6: 32 } as const

export const isPublicPolicy = (policy: Pick<Policy, 'statements'>): boolean =>
  policy.statements.some(isPublicStatement)

/** True when one statement makes the policy public. */
export function isPublicStatement(statement: Statement): boolean {
  const { effect, principals, conditions } = statement
  if (effect === 'Deny') return false
  return (principals.not || principals.patterns.includes('*')) && !conditions.some(narrows)
}

function narrows({ operator, key, values, ifExists, set }: PolicyCondition): boolean {
  // Both operators also hold when the request has no such key.
  if (ifExists || set === 'all') return false
  if (key === 'aws:sourceip') return operator === 'IpAddress' && values.every(isNarrowSubnet)
  return NARROWING_KEYS.has(key) && NARROWING_OPERATORS.test(operator) && values.every(isNamed)
}

/** True when the value is one caller: all anonymous callers have the same `aws:userid`. */
const isNamed = (value: string): boolean => isFixed(value) && value.toLowerCase() !== ANONYMOUS

function isNarrowSubnet(value: string): boolean {
  const subnet = parseSubnet(value)
  return subnet !== undefined && subnet.bits >= SUBNET_BITS_MIN[subnet.family]
}
