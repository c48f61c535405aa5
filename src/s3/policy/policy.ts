// Bucket policies: parsing and evaluation (AWS, "Policies and permissions in Amazon S3"; IAM, "JSON policy
// elements"). Statements that could never take effect are refused.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { Judging } from './judging.ts'
import { checkApplies } from './policy-applies.ts'
import { conditionsHold, parseConditions, type PolicyCondition } from './policy-conditions.ts'
import type { Context } from './policy-context.ts'
import { KNOWN_ACTIONS } from './policy-keys.ts'
import { matchesWildcards } from './wildcards.ts'

/** The limit that AWS documents under "Bucket policy". */
export const POLICY_BYTES_MAX = 20 * 1024

/** `not`: the statement applies to everything that matches none of the patterns. */
type Patterns = { readonly not: boolean; readonly patterns: readonly string[] }

export type Statement = {
  readonly effect: 'Allow' | 'Deny'
  /** Accounts, `service:<name>`, or `*` for everyone, including anonymous callers. */
  readonly principals: Patterns
  readonly actions: Patterns
  /** The resources without the `arn:aws:s3:::` before them. */
  readonly resources: Patterns
  readonly conditions: readonly PolicyCondition[]
}

export type Policy = {
  /** As sent: reads return it byte for byte. */
  readonly text: string
  readonly statements: readonly Statement[]
}

export type PolicyRequest = {
  /** The caller's account, `service:<name>` for an own service, undefined for an anonymous caller. */
  readonly caller: string | undefined
  /** `s3:GetObject` */
  readonly action: string
  /** `bucket` or `bucket/key` */
  readonly resource: string
  readonly context: Context
  /** The budget of the whole request. */
  readonly judging: Judging
}

/**
 * The effect of the policy: a matching Deny wins over any Allow; undefined when nothing matches. Throws AccessDenied
 * when the evaluation takes too long.
 */
export function evaluatePolicy(
  policy: Pick<Policy, 'statements'>,
  request: PolicyRequest,
): 'allow' | 'deny' | undefined {
  let allowed = false
  for (const statement of policy.statements) {
    if (allowed && statement.effect === 'Allow') continue
    if (!fits(statement, request)) continue
    if (statement.effect === 'Deny') return 'deny'
    allowed = true
  }
  return allowed ? 'allow' : undefined
}

/** True when some statement allows the action to the caller, ignoring conditions and resources. */
export const mayAllow = (
  policy: Pick<Policy, 'statements'>,
  request: Omit<PolicyRequest, 'resource' | 'context'>,
): boolean =>
  policy.statements.some(
    (statement) => statement.effect === 'Allow' && fitsCall(statement, request),
  )

function fits(statement: Statement, request: PolicyRequest): boolean {
  const { caller, action, resource, context, judging } = request
  return (
    judging.once(statement, [caller, action], () => fitsCall(statement, request)) &&
    among(statement.resources, (pattern) => matchesWildcards(pattern, resource, judging)) &&
    conditionsHold(statement.conditions, { context, judging })
  )
}

/** True when the statement applies to the caller and the action. */
function fitsCall(
  { principals, actions }: Statement,
  request: Omit<PolicyRequest, 'resource' | 'context'>,
): boolean {
  const { caller, action, judging } = request
  return (
    among(principals, (one) => one === '*' || one === caller) && isAbout(actions, action, judging)
  )
}

function isAbout(actions: Patterns, action: string, judging: Judging): boolean {
  const name = action.toLowerCase()
  return among(actions, (pattern) => matchesWildcards(pattern.toLowerCase(), name, judging))
}

/** The accounts that a policy names, which must exist: a statement about a mistyped name would protect nothing. */
export const accountsOf = ({ statements }: Pick<Policy, 'statements'>): Set<string> =>
  new Set(
    statements
      .flatMap(({ principals }) => principals.patterns)
      .filter((one) => one !== '*' && !one.startsWith('service:') && !one.startsWith('arn:')),
  )

const among = ({ not, patterns }: Patterns, matches: (pattern: string) => boolean): boolean =>
  patterns.some(matches) !== not

/**
 * Parses the policy of a bucket. Throws MalformedPolicy (no JSON, an unknown element, an unknown action, a resource
 * outside the bucket, an unknown condition, a condition that no action of the statement has), AccessDenied when
 * checking takes too long.
 */
export function parsePolicy(text: string, bucket: string): Policy {
  if (Buffer.byteLength(text) > POLICY_BYTES_MAX)
    throw malformed(`Policies must not be larger than ${POLICY_BYTES_MAX} bytes`)
  const document = parseJson(text)
  onlyKnown(document, ['Version', 'Id', 'Statement'])
  const { Version: version = '2008-10-17', Statement: body } = document
  if (version !== '2012-10-17' && version !== '2008-10-17')
    throw malformed('The policy must contain a valid version string')
  const statements = Array.isArray(body) ? body : [body]
  if (body === undefined || statements.length === 0)
    throw malformed('Could not parse the policy: Statement is empty!')
  const parsed = statements.map((one) => parseStatement(one, bucket, version))
  const judging = new Judging()
  for (const { effect, actions, conditions } of parsed)
    checkApplies({
      effect,
      conditions,
      isAbout: (action) => isAbout(actions, action, judging),
      names: (action) =>
        !actions.not &&
        actions.patterns.some((pattern) => pattern.toLowerCase() === action.toLowerCase()),
    })
  return { text, statements: parsed }
}

function parseJson(text: string): Record<string, unknown> {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw storageFault('MalformedPolicy')
  }
  if (!text.startsWith('{') || !isRecord(document)) throw storageFault('MalformedPolicy')
  return document
}

const ELEMENTS = [
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
]

function parseStatement(body: unknown, bucket: string, version: string): Statement {
  if (!isRecord(body)) throw malformed('Could not parse the policy: Statement is not an object')
  onlyKnown(body, ELEMENTS)
  const effect = body['Effect']
  if (effect === undefined) throw malformed('Missing required field Effect')
  if (effect !== 'Allow' && effect !== 'Deny') throw malformed(`Invalid effect: ${String(effect)}`)
  if (body['Sid'] !== undefined && typeof body['Sid'] !== 'string') throw malformed('Invalid Sid')
  const principals = oneOf(body, 'Principal', parsePrincipals)
  // NotPrincipal with Allow would open a bucket to everyone but one principal; AWS refuses it too.
  if (principals.not && effect === 'Allow')
    throw malformed('Allow with NotPrincipal is not allowed.')
  const actions = oneOf(body, 'Action', parseActions)
  const resources = oneOf(body, 'Resource', (value) => parseResources(value, bucket))
  // Variables (`${aws:…}`) exist only in the newer version; here none of them has a value.
  if (version === '2012-10-17' && resources.patterns.some((pattern) => pattern.includes('${')))
    throw malformed('Policy has a policy variable, which is not supported')
  return { effect, principals, actions, resources, conditions: parseConditions(body['Condition']) }
}

/** Reads exactly one of `Name` and `NotName`. */
function oneOf(
  body: Record<string, unknown>,
  name: string,
  parse: (value: unknown) => string[],
): Patterns {
  const not = body[`Not${name}`] !== undefined
  if (not === (body[name] !== undefined)) throw malformed(`Missing required field ${name}`)
  const patterns = parse(body[not ? `Not${name}` : name])
  if (patterns.length === 0) throw malformed(`Missing required field ${name} cannot be empty!`)
  return { not, patterns }
}

function parsePrincipals(value: unknown): string[] {
  if (value === '*') return ['*']
  if (!isRecord(value)) throw malformed('Invalid principal in policy')
  return Object.entries(value).flatMap(([kind, names]) =>
    strings(names, 'Invalid principal in policy').map((name) => parsePrincipal(kind, name)),
  )
}

// Principals are whole accounts: there are no users within accounts, so a policy for a user would apply to nobody.
// RGW writes an account without tenant as a user of an empty account.
const ACCOUNT_ARN = /^arn:aws:iam::(?:([\w.$@=,+-]+):root|:user\/([\w.$@=,+-]+))$/

function parsePrincipal(kind: string, name: string): string {
  if (kind === 'Service' && /^[a-z0-9.-]+$/.test(name)) return `service:${name}`
  if (kind === 'AWS') {
    const found = ACCOUNT_ARN.exec(name)
    const account = found?.[1] ?? found?.[2]
    // An account of another cloud has no caller here. Ceph's suite writes one, and expects no refusal.
    if (account !== undefined) return account.startsWith('acct_') ? account : name
  }
  if (kind === 'AWS' && name === '*') return '*'
  if ((kind === 'AWS' || kind === 'CanonicalUser') && /^[\w.$@=,+-]+$/.test(name)) return name
  throw malformed('Invalid principal in policy')
}

/**
 * Throws MalformedPolicy for a pattern that matches no action, such as a typing error: the statement would protect
 * nothing.
 */
function parseActions(value: unknown): string[] {
  const judging = new Judging()
  const isKnown = (action: string) =>
    KNOWN_ACTIONS.some((name) => matchesWildcards(action.toLowerCase(), name, judging))
  const actions = strings(value, 'Policy has invalid action')
  const unknown = actions.find((action) => action !== '*' && !isKnown(action))
  if (unknown !== undefined) throw malformed(`Policy has invalid action: ${unknown.slice(0, 100)}`)
  return actions
}

const RESOURCE_PREFIX = 'arn:aws:s3:::'

function parseResources(value: unknown, bucket: string): string[] {
  const judging = new Judging()
  return strings(value, 'Policy has invalid resource').map((resource) => {
    if (resource === '*') return '*'
    const pattern = resource.slice(RESOURCE_PREFIX.length)
    const ofBucket = matchesWildcards(pattern.replace(/\/.*$/s, ''), bucket, judging)
    if (!resource.startsWith(RESOURCE_PREFIX) || !ofBucket)
      throw malformed('Policy has invalid resource')
    return pattern
  })
}

function onlyKnown(record: Record<string, unknown>, known: readonly string[]): void {
  const unknown = Object.keys(record).find((name) => !known.includes(name))
  if (unknown !== undefined) throw malformed(`Unknown field ${unknown}`)
}

function strings(value: unknown, message: string): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.map((one) => {
    if (typeof one !== 'string') throw malformed(message)
    return one
  })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const malformed = (message: string) => storageFault('MalformedPolicy', message)
