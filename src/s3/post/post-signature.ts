// The signature of a form, in both forms of AWS: the fields of version 4, and the older `AWSAccessKeyId` with an
// HMAC-SHA1 of the policy. Much of the public suite and many pages still send the latter.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { ALGORITHM, parseScope, type SignedCredential } from '#s3/authentication/credential.ts'
import { parseTimestamp } from '#s3/authentication/timestamp.ts'

export type FormCredential =
  | SignedCredential
  | { readonly kind: 'form-v2'; readonly accessKey: string; readonly signature: string }

/** `policy` is the field as sent, which is the signed text. */
export type SignedForm = { readonly credential: FormCredential; readonly policy: string }

/**
 * The signature of a form; undefined for one without policy and signature, which is anonymous. Throws
 * InvalidArgument when a part is missing or malformed.
 */
export function parseFormSignature(fields: ReadonlyMap<string, string>): SignedForm | undefined {
  const policy = fields.get('policy')
  const signature = fields.get('x-amz-signature')
  const older = fields.get('signature')
  const isSigned = signature !== undefined || older !== undefined || fields.has('awsaccesskeyid')
  if (policy === undefined) {
    if (isSigned) throw missing('policy')
    return undefined
  }
  if (fields.has('x-amz-security-token')) throw storageFault('InvalidToken')
  if (fields.has('x-amz-algorithm') || signature !== undefined)
    return { credential: versionFour(fields), policy }
  const accessKey = fields.get('awsaccesskeyid')
  if (accessKey === undefined) throw missing('AWSAccessKeyId')
  if (older === undefined) throw missing('signature')
  return { credential: { kind: 'form-v2', accessKey, signature: older }, policy }
}

function versionFour(fields: ReadonlyMap<string, string>): SignedCredential {
  const field = (name: string): string => {
    const value = fields.get(name)
    if (value === undefined || value === '') throw missing(name)
    return value
  }
  const algorithm = field('x-amz-algorithm')
  if (algorithm !== ALGORITHM)
    throw storageFault('InvalidArgument', `X-Amz-Algorithm only supports "${ALGORITHM}"`)
  const malformed = (problem: string) =>
    storageFault('InvalidArgument', `Error parsing the X-Amz-Credential parameter; ${problem}.`)
  const timestamp = field('x-amz-date')
  const timeMs = parseTimestamp(timestamp)
  if (timeMs === undefined)
    throw storageFault('InvalidArgument', 'X-Amz-Date must be formatted via ISO8601 Long format')
  return {
    kind: 'form',
    ...parseScope(field('x-amz-credential'), malformed),
    timestamp,
    timeMs,
    signedHeaders: [],
    signature: field('x-amz-signature'),
  }
}

const missing = (name: string) =>
  storageFault(
    'InvalidArgument',
    `Bucket POST must contain a field named '${name}'. If it is specified, please check the order of the fields.`,
    { ArgumentName: name },
  )
