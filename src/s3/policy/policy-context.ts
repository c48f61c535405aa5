// The values of a request that policy conditions can use. Unknown keys are refused when a policy is stored: a
// condition that never has a value would look like protection.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { parsePreconditions } from '#s3/objects/conditions.ts'
import { parseCopySource } from '#s3/objects/copy-source.ts'
import type { Signing } from '#s3/authentication/credential.ts'
import { actionsWith } from './policy-keys.ts'

/** The request's values of a condition key; undefined when it has none. */
export type Context = (key: string) => readonly string[] | undefined

export type PolicyFacts = {
  /** `s3:GetObject` */
  readonly action: string
  readonly headers: IncomingHttpHeaders
  readonly query: ReadonlyMap<string, string>
  /** The client's address, behind trusted proxies. */
  readonly sourceIp: string
  readonly secure: boolean
  readonly nowMs: number
  /** True when the request writes a whole object, not a part or the creation of an upload. */
  readonly createsObject: boolean
  readonly account: string | undefined
  /** The signing; undefined for bearer tokens and anonymous requests. */
  readonly signing?: Signing | undefined
  /**
   * Replaces the query's prefix: the missing key, when asking (s3:ListBucket) whether the caller may know that it is
   * missing.
   */
  readonly prefix?: string
  /** The version id in the request. */
  readonly versionId?: string | undefined
  /** The tags of the current object. */
  readonly existingTags?: Readonly<Record<string, string>>
  /** The tags that the request sets. */
  readonly requestTags?: Readonly<Record<string, string>>
  /** For an own service (`service:…`): the bucket that it acts for, as an ARN, and the owner of that bucket. */
  readonly sourceArn?: string
  readonly sourceAccount?: string
}

/** The `aws:userid` of anonymous callers (IAM, "Principal key values"). */
export const ANONYMOUS = 'anonymous'

type ReadFact = (facts: PolicyFacts) => string | readonly string[] | undefined

const header =
  (name: string): ReadFact =>
  ({ headers }) =>
    headers[name]
const parameter =
  (name: string): ReadFact =>
  ({ query }) =>
    query.get(name)

const HEADER_KEYS = [
  'x-amz-acl',
  'x-amz-content-sha256',
  'x-amz-grant-full-control',
  'x-amz-grant-read',
  'x-amz-grant-read-acp',
  'x-amz-grant-write',
  'x-amz-grant-write-acp',
  'x-amz-object-ownership',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
  'if-match',
] as const

const AUTH_TYPES = { header: 'REST-HEADER', query: 'REST-QUERY-STRING', form: 'POST' } as const
const SIGNATURE_VERSIONS = { 2: 'AWS', 4: 'AWS4-HMAC-SHA256' } as const

/** In characters; AWS accepts no longer Referer either. */
const VALUE_MAX = 2048

const DAY_MS = 86_400_000

const READS: ReadonlyMap<string, ReadFact> = new Map<string, ReadFact>([
  ['aws:currenttime', ({ nowMs }) => new Date(nowMs).toISOString()],
  ['aws:epochtime', ({ nowMs }) => String(Math.floor(nowMs / 1000))],
  ['aws:principalaccount', ({ account }) => account],
  ['aws:userid', ({ account }) => account ?? ANONYMOUS],
  ['aws:referer', header('referer')],
  ['aws:useragent', header('user-agent')],
  ['aws:securetransport', ({ secure }) => String(secure)],
  ['aws:sourceaccount', ({ sourceAccount }) => sourceAccount],
  ['aws:sourcearn', ({ sourceArn }) => sourceArn],
  ['aws:sourceip', ({ sourceIp }) => sourceIp],
  ...HEADER_KEYS.map((name): [string, ReadFact] => [`s3:${name}`, header(name)]),
  ['s3:authtype', ({ signing }) => signing && AUTH_TYPES[signing.by]],
  ['s3:signatureversion', ({ signing }) => signing && SIGNATURE_VERSIONS[signing.version]],
  ['s3:if-none-match', notOver],
  ['s3:objectcreationoperation', ({ createsObject }) => String(createsObject)],
  ['s3:x-amz-metadata-directive', directive],
  ['s3:x-amz-copy-source', ({ headers }) => copySource(headers['x-amz-copy-source'])],
  ['s3:delimiter', parameter('delimiter')],
  ['s3:max-keys', parameter('max-keys')],
  ['s3:prefix', ({ prefix, query }) => prefix ?? query.get('prefix')],
  ['s3:versionid', ({ versionId }) => versionId],
  ['s3:object-lock-legal-hold', header('x-amz-object-lock-legal-hold')],
  ['s3:object-lock-mode', header('x-amz-object-lock-mode')],
  ['s3:object-lock-retain-until-date', header('x-amz-object-lock-retain-until-date')],
  ['s3:object-lock-remaining-retention-days', remainingDays],
  ['s3:requestobjecttagkeys', ({ requestTags }) => requestTags && Object.keys(requestTags)],
])

const TAG_READS: ReadonlyMap<string, (facts: PolicyFacts) => PolicyFacts['existingTags']> = new Map(
  [
    ['s3:existingobjecttag', (facts: PolicyFacts) => facts.existingTags],
    ['s3:requestobjecttag', (facts: PolicyFacts) => facts.requestTags],
  ],
)

/** The key in the form of `policyContext`: case matters in tag names only. Undefined: unknown. */
export function conditionKey(key: string): string | undefined {
  const slash = key.indexOf('/')
  if (slash < 0) return READS.has(key.toLowerCase()) ? key.toLowerCase() : undefined
  const family = key.slice(0, slash).toLowerCase()
  const name = key.slice(slash + 1)
  return TAG_READS.has(family) && name !== '' ? `${family}/${name}` : undefined
}

/**
 * Computes a value only when a condition uses it. Throws AccessDenied for a value that is too long: without the value
 * a Deny would not match.
 */
export function policyContext(facts: PolicyFacts): Context {
  return (key) => {
    if (actionsWith(key)?.has(facts.action) === false) return undefined
    const slash = key.indexOf('/')
    const value = slash < 0 ? READS.get(key)?.(facts) : tagValue(key, slash, facts)
    if (typeof value !== 'string') return value
    if (value.length > VALUE_MAX)
      throw storageFault('AccessDenied', `The bucket policy asks for ${key}, which is too long`)
    return [value]
  }
}

function tagValue(key: string, slash: number, facts: PolicyFacts): string | undefined {
  const tags = TAG_READS.get(key.slice(0, slash))?.(facts)
  const name = key.slice(slash + 1)
  return tags !== undefined && Object.hasOwn(tags, name) ? tags[name] : undefined
}

/** Writes that never overwrite: creating with another tag than the object's; AWS has no tags there. */
function notOver({ headers }: PolicyFacts): string | undefined {
  return parsePreconditions(headers).ifNoneMatch?.includes('*') === true ? '*' : undefined
}

/** Only for copies: other writes, also copied parts, have no metadata directive. */
function directive({ headers, createsObject }: PolicyFacts): string | string[] | undefined {
  const isCopy = createsObject && headers['x-amz-copy-source'] !== undefined
  return isCopy ? headers['x-amz-metadata-directive'] : undefined
}

/** `bucket/key` of the source of a copy, as conditions write it; undefined for an invalid source. */
function copySource(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  try {
    const { bucket, key } = parseCopySource(value)
    return `${bucket}/${key}`
  } catch {
    return undefined
  }
}

function remainingDays({ headers, nowMs }: PolicyFacts): string | undefined {
  const until = headers['x-amz-object-lock-retain-until-date']
  if (typeof until !== 'string') return undefined
  const days = Math.ceil((Date.parse(until) - nowMs) / DAY_MS)
  return Number.isNaN(days) ? undefined : String(days)
}
