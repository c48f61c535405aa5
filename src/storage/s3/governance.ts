// Object lock in GOVERNANCE mode yields to who may bypass it and says so (Amazon S3 User Guide, "Object
// Lock").
import type { Bucket } from '#storage/objects/types.ts'
import type { Access } from './access.ts'
import type { StorageRequest } from './call.ts'

/** Whether the request asks to bypass governance of a version, by default the one it names, and may. */
export function bypassesGovernance(
  access: Access,
  request: StorageRequest,
  bucket: Bucket,
  named?: { readonly key: string; readonly versionId?: string | undefined },
): boolean {
  const { headers, target } = request.body
  const { key, versionId } = named ?? { key: target.key, versionId: target.query.get('versionId') }
  if (String(headers['x-amz-bypass-governance-retention']).toLowerCase() !== 'true') return false
  return access.allows(request, bucket, {
    action: 's3:BypassGovernanceRetention',
    ...(key === undefined ? {} : { key, versionId }),
  })
}
