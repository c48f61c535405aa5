// Where a request came in, and the addresses that its answer names.
import type { StorageRequest } from '#s3/call.ts'
import type { StorageSettings } from '#s3/settings.ts'
import type { Origin } from './website-route.ts'
import { encodePath } from '#s3/target.ts'

/** The host that was asked, and the protocol that clients reach the service by: TLS may end before it. */
export const originOf = (
  { body: { headers } }: StorageRequest,
  { website: { protocol } }: StorageSettings,
): Origin => ({ protocol, host: headers.host ?? '' })

/** The address of an object, in the style in which its bucket was asked for. */
export function addressOf(
  { body: { target } }: StorageRequest,
  key: string,
  { protocol, host }: Origin,
): string {
  const path = target.form === 'host' ? key : `${target.bucket}/${key}`
  return `${protocol}://${host}/${encodePath(path)}`
}
