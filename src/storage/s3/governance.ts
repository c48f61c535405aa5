// Object lock in GOVERNANCE mode yields to who may bypass it and says so (Amazon S3 User Guide, "Object
// Lock").
import type { Bucket } from '#storage/objects/types.ts'
import type { Access } from './access.ts'
import type { StorageRequest } from './call.ts'

/** Whether the request asks to bypass governance of a key, by default the one it names, and may. */
export function bypassesGovernance(
  access: Access,
  request: StorageRequest,
  bucket: Bucket,
  key = request.body.target.key,
): boolean {
  const { headers } = request.body
  if (String(headers['x-amz-bypass-governance-retention']).toLowerCase() !== 'true') return false
  return access.allows(request, bucket, {
    action: 's3:BypassGovernanceRetention',
    ...(key === undefined ? {} : { key }),
  })
}
