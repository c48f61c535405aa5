// Which grant of which list stands for an action (AWS, "Mapping of ACL permissions and access policy
// permissions"). Other actions no ACL can give: who may write neither deletes versions for good nor lists or
// aborts what others upload, which AWS leaves to the bucket's owner and to who began; tags steer lifecycle rules
// and policies. Attributes are told by READ (AWS, "GetObjectAttributes").
import type { Permission } from './acl.ts'

export type NeededPermission = {
  /** Whose list is asked. */
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
