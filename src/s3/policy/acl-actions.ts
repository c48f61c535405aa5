// The grant that allows an action (AWS, "Mapping of ACL permissions and access policy permissions"). ACLs give no
// other actions: writers may not delete versions for good, nor list or abort the uploads of others (AWS leaves that
// to the bucket's owner and the creator). Tags drive lifecycle rules and policies, so no ACL gives them. READ gives
// the attributes of an object (AWS, "GetObjectAttributes").
import type { Permission } from './acl.ts'

export type NeededPermission = {
  /** The list that counts. */
  readonly of: 'bucket' | 'object'
  readonly permission: Exclude<Permission, 'FULL_CONTROL'>
}

const of = (level: NeededPermission['of'], permission: NeededPermission['permission']) => ({
  of: level,
  permission,
})

const NEEDED: ReadonlyMap<string, NeededPermission> = new Map([
  ['s3:ListBucket', of('bucket', 'READ')],
  ['s3:ListBucketVersions', of('bucket', 'READ')],
  ['s3:ListBucketMultipartUploads', of('bucket', 'READ')],
  ['s3:PutObject', of('bucket', 'WRITE')],
  ['s3:DeleteObject', of('bucket', 'WRITE')],
  ['s3:GetBucketAcl', of('bucket', 'READ_ACP')],
  ['s3:PutBucketAcl', of('bucket', 'WRITE_ACP')],
  ['s3:GetObject', of('object', 'READ')],
  ['s3:GetObjectVersion', of('object', 'READ')],
  ['s3:GetObjectAttributes', of('object', 'READ')],
  ['s3:GetObjectVersionAttributes', of('object', 'READ')],
  ['s3:GetObjectAcl', of('object', 'READ_ACP')],
  ['s3:GetObjectVersionAcl', of('object', 'READ_ACP')],
  ['s3:PutObjectAcl', of('object', 'WRITE_ACP')],
  ['s3:PutObjectVersionAcl', of('object', 'WRITE_ACP')],
])

/** The permission that gives an action (`s3:GetObject`); undefined when none does. */
export const permissionOf = (action: string): NeededPermission | undefined => NEEDED.get(action)
