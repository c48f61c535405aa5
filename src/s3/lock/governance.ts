// Object lock in GOVERNANCE mode yields to callers with the permission to bypass it who ask for it (Amazon S3 User
// Guide, "Object Lock").
import type { Bucket } from '#objects/types.ts'
import type { Access, BodySays } from '#s3/policy/access.ts'
import type { StorageRequest } from '#s3/call.ts'
import { lockAsHeaders } from './object-lock.ts'

type NamedBypass = Pick<BodySays, 'headers'> & {
  readonly key?: string
  readonly versionId?: string | undefined
}

/**
 * True when the request asks to bypass governance of a version (by default the version that it names) and may.
 * `headers` are the lock that the request sets, for conditions of policies; by default it sets none.
 */
export function bypassesGovernance(
  access: Access,
  request: StorageRequest,
  bucket: Bucket,
  { headers: lock = lockAsHeaders(null), ...named }: NamedBypass = {},
): boolean {
  const { headers, target } = request.body
  if (String(headers['x-amz-bypass-governance-retention']).toLowerCase() !== 'true') return false
  const { key, versionId } =
    named.key === undefined ? { key: target.key, versionId: target.query.get('versionId') } : named
  return access.allows(request, bucket, {
    action: 's3:BypassGovernanceRetention',
    headers: lock,
    ...(key === undefined ? {} : { key, versionId }),
  })
}
