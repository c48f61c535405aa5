// Decides whether a request is allowed, by the bucket's policy, ACLs, public access block and ownership. A Deny wins,
// except over the policy itself; then the owner's account; then any Allow (IAM, "Policy evaluation logic"; S3, "How
// Amazon S3 authorizes a request").
import { storageFault } from '#contract/storage/storage-errors.ts'
import { permissionOf } from './acl-actions.ts'
import { aclAllows, type Acl } from './acl.ts'
import type { Judging } from './judging.ts'
import type { Ownership } from './ownership.ts'
import { evaluatePolicy, mayAllow, type Policy } from './policy.ts'
import type { Context } from './policy-context.ts'
import { isPublicPolicy } from './policy-public.ts'
import type { PublicAccessBlock } from './public-access.ts'

export type AccessCheck = {
  /** The caller's account, `service:<name>`, undefined for an anonymous caller. */
  readonly caller: string | undefined
  /** `s3:GetObject` */
  readonly action: string
  readonly bucket: AccessBucket
  /** Undefined for actions on the bucket. */
  readonly key: string | undefined
  /** The existing object of the action; undefined when there is none. */
  readonly object: { readonly owner: string; readonly acl: Acl } | undefined
  readonly context: Context
  /** True when the action could be allowed under some conditions: the body is not read yet. */
  readonly isForesight?: boolean
  /** The creator of the upload. */
  readonly initiator?: string | undefined
  readonly judging: Judging
}

export type AccessBucket = {
  readonly name: string
  readonly owner: string
  readonly acl: Acl
  readonly policy: Policy | undefined
  readonly block: PublicAccessBlock | undefined
  readonly ownership: Ownership
}

/** The rule that allows a request. */
export type AccessReason = 'policy' | 'owner' | 'acl'

/**
 * Always allowed to the owner, so that an account cannot lock itself out of a bucket that it pays for, and never to
 * others (S3, "PutBucketPolicy": 405).
 */
const OF_OWNER_ALONE: ReadonlySet<string> = new Set([
  's3:GetBucketPolicy',
  's3:PutBucketPolicy',
  's3:DeleteBucketPolicy',
])

/**
 * The rule that allows the request; undefined: denied. Throws what evaluatePolicy() throws, and MethodNotAllowed when
 * the policy gives other accounts an action of the owner alone.
 */
export function allowedBy(check: AccessCheck): AccessReason | undefined {
  const { caller, action, bucket } = check
  if (!OF_OWNER_ALONE.has(action)) return allowedByAny(check)
  if (caller === bucket.owner) return 'owner'
  if (allowedByAny(check) === undefined) return undefined
  throw storageFault('MethodNotAllowed', undefined, {}, { allow: 'OPTIONS' })
}

function allowedByAny(check: AccessCheck): AccessReason | undefined {
  const { caller, action, bucket, key, context, judging, isForesight = false } = check
  const resource = key === undefined ? bucket.name : `${bucket.name}/${key}`
  const policy = bucket.policy && (isForesight ? atBest(bucket.policy) : bucket.policy)
  const verdict = policy && evaluatePolicy(policy, { caller, action, resource, context, judging })
  if (verdict === 'deny') return undefined
  if (verdict === 'allow' && !isRestricted(check)) return 'policy'
  if (ownsTarget(check)) return 'owner'
  return aclGives(check) ? 'acl' : undefined
}

/** The policy as if all its conditions held for the caller. */
const atBest = ({ statements }: Policy): Pick<Policy, 'statements'> => ({
  statements: statements
    .filter(({ effect, conditions }) => effect === 'Allow' || conditions.length === 0)
    .map((statement) => ({ ...statement, conditions: [] })),
})

/** True when an anonymous caller could be allowed the action for some key. If not, the request need not be read. */
export function mayAllowStranger(
  asked: Pick<AccessCheck, 'action' | 'bucket' | 'judging'>,
): boolean {
  const check = { ...asked, caller: undefined, object: undefined }
  const { policy } = asked.bucket
  if (policy !== undefined && mayAllow(policy, check) && !isRestricted(check)) return true
  return aclGives(check)
}

/** RestrictPublicBuckets: a public policy then applies only to the owner and to services. */
function isRestricted({
  caller,
  bucket,
  judging,
}: Pick<AccessCheck, 'caller' | 'bucket' | 'judging'>): boolean {
  const { block, policy, owner } = bucket
  if (block?.restrictPublicBuckets !== true || policy === undefined) return false
  if (caller === owner || caller?.startsWith('service:') === true) return false
  return judging.once(policy, [], () => isPublicPolicy(policy))
}

/** Actions of the bucket's owner on objects of other accounts: delete and lock. */
const TO_FOREIGN_OBJECTS: ReadonlySet<string> = new Set([
  's3:DeleteObject',
  's3:DeleteObjectVersion',
  's3:BypassGovernanceRetention',
  's3:GetObjectRetention',
  's3:PutObjectRetention',
  's3:GetObjectLegalHold',
  's3:PutObjectLegalHold',
])

/** Actions that no ACL gives: on an object of another account they belong to that account. */
const OF_OBJECT_OWNER = /^s3:(Get|Put|Delete|List)Object(Version)?(Tagging|Annotations?)$/

/** The creator of an upload may list its parts and abort it, as at AWS, in a bucket of any owner. */
function ownsTarget({ caller, action, bucket, object, initiator }: AccessCheck): boolean {
  if (initiator !== undefined && initiator === caller) return true
  const isKept = object !== undefined && bucket.ownership !== 'BucketOwnerEnforced'
  if (isKept && object.owner === caller && OF_OBJECT_OWNER.test(action)) return true
  if (caller !== bucket.owner) return false
  return !isKept || object.owner === caller || TO_FOREIGN_OBJECTS.has(action)
}

/** Attributes that a writer by ACL may set on its own new object. */
const OF_A_WRITE: ReadonlySet<string> = new Set(['s3:PutObjectAcl', 's3:PutObjectTagging'])

function aclGives({
  caller,
  action,
  bucket,
  object,
}: Pick<AccessCheck, 'caller' | 'action' | 'bucket' | 'object'>): boolean {
  const isOfWrite = object === undefined && OF_A_WRITE.has(action)
  const found = permissionOf(isOfWrite ? 's3:PutObject' : action)
  if (found === undefined || bucket.ownership === 'BucketOwnerEnforced') return false
  const target = found.of === 'bucket' ? bucket : object
  if (target === undefined) return false
  return aclAllows(target.acl, {
    permission: found.permission,
    caller,
    owner: target.owner,
    ignorePublic: bucket.block?.ignorePublicAcls === true,
  })
}
