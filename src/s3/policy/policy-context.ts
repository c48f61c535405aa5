// What conditions of policies may ask of a request. A key that is not in this table is refused when a
// policy is put: a condition that never finds a value would look like protection and be none.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage-errors.ts'
import { parseConditions } from '#s3/objects/conditions.ts'
import { parseCopySource } from '#s3/objects/copy-source.ts'
import type { Signing } from '#s3/authentication/credential.ts'
import { actionsWith } from './policy-keys.ts'

/** The values a request has for a condition key; undefined when it has none. */
export type Context = (key: string) => readonly string[] | undefined

export type Facts = {
  /** `s3:GetObject` */
  readonly action: string
  readonly headers: IncomingHttpHeaders
  readonly query: ReadonlyMap<string, string>
  /** The client's address, after any proxies that are trusted. */
  readonly sourceIp: string
  readonly secure: boolean
  readonly nowMs: number
  /** A write, and not only of a part or the beginning of an upload. */
  readonly createsObject: boolean
  readonly account: string | undefined
  /** How the caller signed; nothing for bearer tokens and anonymous requests. */
  readonly signing?: Signing | undefined
  /**
   * In place of the query's: the key that was not found, when it is asked (s3:ListBucket) whether the
   * caller may be told so.
   */
  readonly prefix?: string
  /** The version that is asked for by its id. */
  readonly versionId?: string | undefined
  /** Of the object that is there now. */
  readonly existingTags?: Readonly<Record<string, string>>
  /** That the request would set. */
  readonly requestTags?: Readonly<Record<string, string>>
  /** For a service of ours (`service:…`): the bucket it acts for, as an ARN, and its owner. */
  readonly sourceArn?: string
  readonly sourceAccount?: string
}

/** The `aws:userid` of who has none (IAM, "Principal key values"). */
export const NOBODY = 'anonymous'

type Read = (facts: Facts) => string | readonly string[] | undefined

const header =
  (name: string): Read =>
  ({ headers }) =>
    headers[name]
const parameter =
  (name: string): Read =>
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

/** In characters; AWS takes no longer Referer either. */
const VALUE_MAX = 2048

const DAY_MS = 86_400_000

const READS: ReadonlyMap<string, Read> = new Map<string, Read>([
  ['aws:currenttime', ({ nowMs }) => new Date(nowMs).toISOString()],
  ['aws:epochtime', ({ nowMs }) => String(Math.floor(nowMs / 1000))],
  ['aws:principalaccount', ({ account }) => account],
  ['aws:userid', ({ account }) => account ?? NOBODY],
  ['aws:referer', header('referer')],
  ['aws:useragent', header('user-agent')],
  ['aws:securetransport', ({ secure }) => String(secure)],
  ['aws:sourceaccount', ({ sourceAccount }) => sourceAccount],
  ['aws:sourcearn', ({ sourceArn }) => sourceArn],
  ['aws:sourceip', ({ sourceIp }) => sourceIp],
  ...HEADER_KEYS.map((name): [string, Read] => [`s3:${name}`, header(name)]),
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

const TAG_READS: ReadonlyMap<string, (facts: Facts) => Facts['existingTags']> = new Map([
  ['s3:existingobjecttag', (facts: Facts) => facts.existingTags],
  ['s3:requestobjecttag', (facts: Facts) => facts.requestTags],
])

/** The key as `policyContext` knows it: letter case counts in tag names only. Undefined: unknown. */
export function conditionKey(key: string): string | undefined {
  const slash = key.indexOf('/')
  if (slash < 0) return READS.has(key.toLowerCase()) ? key.toLowerCase() : undefined
  const family = key.slice(0, slash).toLowerCase()
  const name = key.slice(slash + 1)
  return TAG_READS.has(family) && name !== '' ? `${family}/${name}` : undefined
}

/**
 * Looks values up only when a condition asks for them. One that is too long throws AccessDenied: without it
 * what denies would let the request in.
 */
export function policyContext(facts: Facts): Context {
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

function tagValue(key: string, slash: number, facts: Facts): string | undefined {
  const tags = TAG_READS.get(key.slice(0, slash))?.(facts)
  const name = key.slice(slash + 1)
  return tags !== undefined && Object.hasOwn(tags, name) ? tags[name] : undefined
}

/** What overwrites nothing: a write with another tag than the object's would, and AWS takes no tags there. */
function notOver({ headers }: Facts): string | undefined {
  return parseConditions(headers).ifNoneMatch?.includes('*') === true ? '*' : undefined
}

/** Of a copy: any other write, a part that is copied too, keeps and replaces nothing by it. */
function directive({ headers, createsObject }: Facts): string | string[] | undefined {
  const isCopy = createsObject && headers['x-amz-copy-source'] !== undefined
  return isCopy ? headers['x-amz-metadata-directive'] : undefined
}

/** `bucket/key` of what is read, as conditions are written; undefined where nothing can be. */
function copySource(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  try {
    const { bucket, key } = parseCopySource(value)
    return `${bucket}/${key}`
  } catch {
    return undefined
  }
}

function remainingDays({ headers, nowMs }: Facts): string | undefined {
  const until = headers['x-amz-object-lock-retain-until-date']
  if (typeof until !== 'string') return undefined
  const days = Math.ceil((Date.parse(until) - nowMs) / DAY_MS)
  return Number.isNaN(days) ? undefined : String(days)
}
