// The operators of policy conditions: how a wanted value compares with a value of the request (IAM, "Condition
// operators").
import { bareAddress, parseSubnet } from '#base/subnets.ts'
import type { Judging } from './judging.ts'
import { matchesWildcards } from './wildcards.ts'

export type Comparison = {
  /** The operator is negated: it holds when no wanted value matches. */
  readonly negated: boolean
  readonly matches: (wanted: string, found: string, judging: Judging) => boolean
  /** True when a policy may contain this value. */
  readonly valid: (wanted: string) => boolean
}

type Matching = Omit<Comparison, 'negated'>

const anything = () => true
const lower = (text: string) => text.toLowerCase()

const STRING: Matching = { matches: (wanted, found) => wanted === found, valid: anything }
const STRING_ANY_CASE: Matching = {
  matches: (wanted, found) => lower(wanted) === lower(found),
  valid: anything,
}
const LIKE: Matching = { matches: matchesWildcards, valid: anything }
const BOOL: Matching = {
  matches: (wanted, found) => lower(wanted) === lower(found),
  valid: (wanted) => /^(true|false)$/i.test(wanted),
}
const ADDRESS: Matching = {
  matches: inSubnet,
  valid: (wanted) => parseSubnet(wanted) !== undefined,
}

/** ARNs are compared in each of their six parts, so that a `*` in the first five cannot match a colon. */
const ARN: Matching = {
  matches: (wanted, found, judging) => {
    const parts = arnParts(found)
    return arnParts(wanted).every((part, index) =>
      matchesWildcards(part, parts[index] ?? '', judging),
    )
  },
  valid: (wanted) => wanted === '*' || arnParts(wanted).length === 6,
}

function arnParts(arn: string): string[] {
  const parts = arn.split(':')
  return parts.length <= 6 ? parts : [...parts.slice(0, 5), parts.slice(5).join(':')]
}

type Order = (found: number, wanted: number) => boolean

const ORDERS: Readonly<Record<string, Order>> = {
  LessThan: (found, wanted) => found < wanted,
  LessThanEquals: (found, wanted) => found <= wanted,
  GreaterThan: (found, wanted) => found > wanted,
  GreaterThanEquals: (found, wanted) => found >= wanted,
}
const same: Order = (found, wanted) => found === wanted

// An invalid number is NaN, and every comparison with NaN is false.
const ordered = (read: (text: string) => number, order: Order): Matching => ({
  matches: (wanted, found) => order(read(found), read(wanted)),
  valid: (wanted) => Number.isFinite(read(wanted)),
})

const readNumber = (text: string) => (text.trim() === '' ? Number.NaN : Number(text))

/** Milliseconds of an ISO 8601 time or of seconds since 1970. */
const readDate = (text: string) =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text)

/** Each comparison by its name, and by the name of its negation. */
export const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ...both('StringEquals', 'StringNotEquals', STRING),
  ...both('StringEqualsIgnoreCase', 'StringNotEqualsIgnoreCase', STRING_ANY_CASE),
  ...both('StringLike', 'StringNotLike', LIKE),
  ...both('ArnEquals', 'ArnNotEquals', ARN),
  ...both('ArnLike', 'ArnNotLike', ARN),
  ...both('IpAddress', 'NotIpAddress', ADDRESS),
  ...both('NumericEquals', 'NumericNotEquals', ordered(readNumber, same)),
  ...both('DateEquals', 'DateNotEquals', ordered(readDate, same)),
  ['Bool', { ...BOOL, negated: false }],
  ...Object.entries(ORDERS).flatMap(([name, order]): [string, Comparison][] => [
    [`Numeric${name}`, { ...ordered(readNumber, order), negated: false }],
    [`Date${name}`, { ...ordered(readDate, order), negated: false }],
  ]),
])

function both(name: string, opposite: string, matching: Matching): [string, Comparison][] {
  return [
    [name, { ...matching, negated: false }],
    [opposite, { ...matching, negated: true }],
  ]
}

function inSubnet(wanted: string, found: string): boolean {
  return parseSubnet(wanted)?.includes(bareAddress(found)) === true
}
