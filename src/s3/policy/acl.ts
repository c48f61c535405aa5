// Access control lists as data, the canned ones, and what they allow (AWS, "Access control list
// overview"). The owner of a bucket or object may do everything with it and needs no grant.
import { storageFault } from '#contract/storage-errors.ts'

export const GROUPS = {
  everyone: 'http://acs.amazonaws.com/groups/global/AllUsers',
  authenticated: 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers',
  'log-delivery': 'http://acs.amazonaws.com/groups/s3/LogDelivery',
} as const
export type Group = keyof typeof GROUPS

export const PERMISSIONS = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL'] as const
export type Permission = (typeof PERMISSIONS)[number]

export type Grantee = { readonly account: string } | { readonly group: Group }
export type Grant = { readonly grantee: Grantee; readonly permission: Permission }
export type Acl = { readonly grants: readonly Grant[] }

const PRIVATE: readonly Grant[] = []
const group = (name: Group, ...permissions: Permission[]): Grant[] =>
  permissions.map((permission) => ({ grantee: { group: name }, permission }))

const CANNED: ReadonlyMap<string, readonly Grant[]> = new Map([
  ['private', PRIVATE],
  ['public-read', group('everyone', 'READ')],
  ['public-read-write', group('everyone', 'READ', 'WRITE')],
  ['authenticated-read', group('authenticated', 'READ')],
  ['log-delivery-write', group('log-delivery', 'WRITE', 'READ_ACP')],
])
/** Of objects; for buckets AWS takes them and does nothing beyond `private`. */
const BUCKET_OWNER: ReadonlyMap<string, Permission> = new Map([
  ['bucket-owner-read', 'READ'],
  ['bucket-owner-full-control', 'FULL_CONTROL'],
])

export type Owners = {
  /** Of what the list is for. */
  readonly owner: string
  readonly bucketOwner: string
}

/** The list that a name of `x-amz-acl` stands for. Throws InvalidArgument for other names. */
export function cannedAcl(name: string, { owner, bucketOwner }: Owners): Acl {
  const mine: Grant = { grantee: { account: owner }, permission: 'FULL_CONTROL' }
  const grants = CANNED.get(name)
  // Groups come first, the order in which Ceph's suite reads them.
  if (grants !== undefined) return { grants: [...grants, mine] }
  const permission = BUCKET_OWNER.get(name)
  if (permission === undefined)
    throw storageFault('InvalidArgument', undefined, {
      ArgumentName: 'x-amz-acl',
      ArgumentValue: name,
    })
  if (owner === bucketOwner) return { grants: [mine] }
  return { grants: [mine, { grantee: { account: bucketOwner }, permission }] }
}

export type AclQuestion = {
  readonly permission: Exclude<Permission, 'FULL_CONTROL'>
  /** The caller's account, undefined for an anonymous one. */
  readonly caller: string | undefined
  readonly owner: string
  /** IgnorePublicAcls: grants to groups of strangers count for nothing. */
  readonly ignorePublic?: boolean
}

/** Whether the list, or being the owner, allows this. */
export function aclAllows(acl: Acl, question: AclQuestion): boolean {
  const { permission, caller, owner, ignorePublic = false } = question
  if (caller !== undefined && caller === owner) return true
  return acl.grants.some(
    (grant) =>
      (grant.permission === permission || grant.permission === 'FULL_CONTROL') &&
      !(ignorePublic && isPublicGrantee(grant.grantee)) &&
      isGrantee(grant.grantee, caller),
  )
}

/** Who writes access logs: the one member of the group of that name. */
export const LOG_DELIVERY = 'service:logging.s3.amazonaws.com'

function isGrantee(grantee: Grantee, caller: string | undefined): boolean {
  if ('account' in grantee) return grantee.account === caller
  switch (grantee.group) {
    case 'everyone':
      return true
    case 'authenticated':
      return caller !== undefined
    case 'log-delivery':
      return caller === LOG_DELIVERY
  }
}

const isPublicGrantee = (grantee: Grantee): boolean =>
  'group' in grantee && grantee.group !== 'log-delivery'

/** Whether strangers get anything: "public" in AWS's sense, in which all of AWS's users are strangers. */
export const isPublicAcl = (acl: Acl): boolean =>
  acl.grants.some(({ grantee }) => isPublicGrantee(grantee))

/** Whether nobody but the owner is named. */
export const isPrivateAcl = (acl: Acl, owner: string): boolean =>
  acl.grants.every(({ grantee }) => 'account' in grantee && grantee.account === owner)
