// Access control lists: data, the canned lists, and evaluation (AWS, "Access control list overview"). The owner of a
// bucket or object may do everything and needs no grant.
import { storageFault } from '#contract/storage/storage-errors.ts'

export const ACL_GROUPS = {
  everyone: 'http://acs.amazonaws.com/groups/global/AllUsers',
  authenticated: 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers',
  'log-delivery': 'http://acs.amazonaws.com/groups/s3/LogDelivery',
} as const
export type Group = keyof typeof ACL_GROUPS

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
/** For objects; AWS accepts them for buckets, where they have no effect beyond `private`. */
const BUCKET_OWNER: ReadonlyMap<string, Permission> = new Map([
  ['bucket-owner-read', 'READ'],
  ['bucket-owner-full-control', 'FULL_CONTROL'],
])

export type Owners = {
  /** The owner of the bucket or object. */
  readonly owner: string
  readonly bucketOwner: string
}

/** The list of a canned name in `x-amz-acl`. Throws InvalidArgument for other names. */
export function cannedAcl(name: string, { owner, bucketOwner }: Owners): Acl {
  const mine: Grant = { grantee: { account: owner }, permission: 'FULL_CONTROL' }
  const grants = CANNED.get(name)
  // Groups come first, in the order that Ceph's suite expects.
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

export type AclCheck = {
  readonly permission: Exclude<Permission, 'FULL_CONTROL'>
  /** The caller's account, undefined for an anonymous one. */
  readonly caller: string | undefined
  readonly owner: string
  /** IgnorePublicAcls: grants to public groups are ignored. */
  readonly ignorePublic?: boolean
}

/** True when the list or the ownership allows the permission. */
export function aclAllows(acl: Acl, check: AclCheck): boolean {
  const { permission, caller, owner, ignorePublic = false } = check
  if (caller !== undefined && caller === owner) return true
  return acl.grants.some(
    (grant) =>
      (grant.permission === permission || grant.permission === 'FULL_CONTROL') &&
      !(ignorePublic && isPublicGrantee(grant.grantee)) &&
      isGrantee(grant.grantee, caller),
  )
}

/** The writer of access logs: the one member of the group of that name. */
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

/** True when the list is public in AWS's sense: it grants something to everyone or to all AWS users. */
export const isPublicAcl = (acl: Acl): boolean =>
  acl.grants.some(({ grantee }) => isPublicGrantee(grantee))

/** True when the list names only the owner. */
export const isPrivateAcl = (acl: Acl, owner: string): boolean =>
  acl.grants.every(({ grantee }) => 'account' in grantee && grantee.account === owner)
