// Creates a presigned address: anyone who has it can read or write one object for a time. Its key is derived from the
// caller's token; the address does not contain the token.
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { permits } from '#contract/operation.ts'
import type { PresignRequest } from '#contract/storage/presign.ts'
import type { Handler } from '#http/reply.ts'
import { callerOf, scopeMissing } from '#identity/principal.ts'
import { isBucketName } from '#s3/bucket-name.ts'
import type { DerivedKeys } from './derived-keys.ts'
import { presignedUrl } from './presign.ts'
import { checkKey } from '#s3/target.ts'

/**
 * `baseUrl` is the service's public address; without one the host of the request is used. A session of the portal gets
 * `address`, because the portal's host is not that of storage.
 */
export function createPresignCreate(deps: {
  keys: DerivedKeys
  clock: Clock
  region: string
  baseUrl: string | undefined
  address: string
}): Handler<PresignRequest> {
  const { keys, clock, region, baseUrl, address } = deps
  return (request) => {
    const { body, headers } = request
    const caller = callerOf(request)
    const { account, token, scope, session } = caller
    const { bucket, key, method, expires_s: expiresS } = body
    if (method === 'PUT' && !permits(scope, 'deploy'))
      throw scopeMissing('Could not sign a PUT', caller, 'deploy')
    checkNames(bucket, key)
    // Signatures have whole seconds.
    const fromMs = Math.floor(clock.wallMs() / 1000) * 1000
    const expiresMs = fromMs + expiresS * 1000
    const pair = keys.presigned(token, { account, method, bucket, key, expiresMs })
    const asked = session === undefined ? `http://${headers['host'] ?? 'localhost'}` : address
    const { origin } = new URL(baseUrl ?? asked)
    const url = presignedUrl({ origin, method, bucket, key, region, fromMs, expiresS }, pair)
    const expiresAt = new Date(expiresMs).toISOString()
    return {
      kind: 'known',
      status: 200,
      body: () => ({ url, method, expires_at: expiresAt, access_key_id: pair.id }),
    }
  }
}

function checkNames(bucket: string, key: string): void {
  if (!isBucketName(bucket))
    throw fault('invalid_request', 'Could not sign the address: no bucket can have this name', {
      param: 'bucket',
    })
  // Browsers and most clients fold these segments out of a path before they send it.
  const isFolded = key.split('/').some((part) => part === '.' || part === '..')
  try {
    if (!isFolded && key.isWellFormed()) return checkKey(key)
  } catch (error) {
    if (!(error instanceof ErgonError)) throw error
  }
  throw fault('invalid_request', 'Could not sign the address: no address can bear this key', {
    param: 'key',
  })
}
