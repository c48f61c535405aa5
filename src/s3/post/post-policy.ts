// The policy of a browser form: the fields that the signer permits (AWS, "Creating a POST policy"). A condition must
// permit each field; otherwise a form could contain more than was signed.
import { storageFault } from '#contract/storage/storage-errors.ts'

const POLICY_BYTES_MAX = 20 * 1024

type Matching = {
  readonly operator: 'eq' | 'starts-with'
  /** Lower case, without the `$`. */
  readonly field: string
  readonly value: string
}
export type LengthRange = { readonly min: number; readonly max: number }
export type PostPolicy = {
  readonly expirationMs: number
  readonly conditions: readonly Matching[]
  /** In bytes of the file. */
  readonly length: LengthRange
}

/** Reads the field `policy`: base64 of JSON. Throws InvalidPolicyDocument. */
export function parsePostPolicy(base64: string): PostPolicy {
  if (base64.length > POLICY_BYTES_MAX) throw invalid('The policy is too long')
  const { expiration, conditions, ...rest } = parseJson(base64)
  const [unexpected] = Object.keys(rest)
  if (unexpected !== undefined) throw invalid(`Unexpected: '${unexpected}'`)
  if (typeof expiration !== 'string') throw invalid('Policy missing expiration.')
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(expiration))
    throw invalid(`Invalid 'expiration' value: '${expiration}'`)
  const expirationMs = Date.parse(expiration)
  if (Number.isNaN(expirationMs)) throw invalid(`Invalid 'expiration' value: '${expiration}'`)
  if (!Array.isArray(conditions)) throw invalid('Policy missing conditions.')
  const matchings: Matching[] = []
  let length: LengthRange = { min: 0, max: Infinity }
  for (const condition of conditions as unknown[]) {
    const found = parseCondition(condition)
    if (Array.isArray(found)) matchings.push(...found)
    else length = { min: Math.max(length.min, found.min), max: Math.min(length.max, found.max) }
  }
  return { expirationMs, conditions: matchings, length }
}

function parseJson(base64: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(Buffer.from(base64, 'base64').toString())
    if (isRecord(found)) return found
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw invalid('Invalid JSON.')
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseCondition(condition: unknown): Matching[] | LengthRange {
  if (isRecord(condition)) {
    const entries = Object.entries(condition)
    if (entries.length !== 1) throw invalid('Invalid Simple-Condition: must have one property')
    return entries.map(([name, value]) => matching('eq', name, value))
  }
  if (!Array.isArray(condition) || condition.length !== 3)
    throw invalid('Invalid Condition: wrong number of arguments')
  const [operator, first, second] = condition as unknown[]
  switch (String(operator).toLowerCase()) {
    case 'content-length-range':
      return { min: bytes(first), max: bytes(second) }
    case 'eq':
    case 'starts-with': {
      if (typeof first !== 'string' || !first.startsWith('$'))
        throw invalid('Invalid Condition: the field does not begin with $')
      const name = String(operator).toLowerCase() === 'eq' ? 'eq' : 'starts-with'
      return [matching(name, first.slice(1), second)]
    }
    default:
      throw invalid(`Invalid Condition: unknown operation '${String(operator)}'`)
  }
}

function matching(operator: Matching['operator'], name: string, value: unknown): Matching {
  if (typeof value !== 'string') throw invalid('Invalid Condition: a value is not a string')
  return { operator, field: name.toLowerCase(), value }
}

function bytes(value: unknown): number {
  const found = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof found !== 'number' || !Number.isSafeInteger(found) || found < 0)
    throw invalid('Invalid content-length-range: not a size')
  return found
}

const invalid = (reason: string) =>
  storageFault('InvalidPolicyDocument', `Invalid Policy: ${reason}`)

/** Fields that sign or carry the form and need no condition. */
const EXEMPT =
  /^(awsaccesskeyid|signature|x-amz-signature|policy|file|x-ignore-.*|x-amz-checksum-.*)$/

/** The fields of a form, names in lower case. */
export type PostedForm = {
  readonly fields: ReadonlyMap<string, string>
  /** The bucket that the form was sent to. */
  readonly bucket: string
  /** The key, with `${filename}` replaced. */
  readonly key: string
}

/**
 * Checks a form against its policy. Throws AccessDenied: the policy has expired, a condition does not hold, or a
 * field (the bucket is one) has no condition.
 */
export function checkPostPolicy(policy: PostPolicy, posted: PostedForm, nowMs: number): void {
  if (policy.expirationMs <= nowMs) throw denied('Policy expired.')
  const values = new Map(posted.fields).set('bucket', posted.bucket).set('key', posted.key)
  for (const { operator, field, value } of policy.conditions) {
    // A field that may begin with anything may also be absent.
    const isOpen = operator === 'starts-with' && value === ''
    const found = values.get(field) ?? (isOpen ? '' : undefined)
    const holds = found !== undefined && matches(operator, field, value, found)
    if (!holds) throw denied(`Policy Condition failed: ["${operator}", "$${field}", "${value}"]`)
  }
  const allowed = new Set(policy.conditions.map(({ field }) => field))
  for (const field of values.keys())
    if (!allowed.has(field) && !EXEMPT.test(field)) throw denied(`Extra input fields: ${field}`)
}

function matches(operator: string, field: string, wanted: string, found: string): boolean {
  if (operator === 'eq') return found === wanted
  // A list of types: each must have the prefix (AWS, "Conditions", Content-Type).
  const values = field === 'content-type' ? found.split(',').map((one) => one.trim()) : [found]
  return values.every((value) => value.startsWith(wanted))
}

const denied = (reason: string) =>
  storageFault('AccessDenied', `Invalid according to Policy: ${reason}`)
