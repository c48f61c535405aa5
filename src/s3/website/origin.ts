// The origin of a request, and the addresses in its reply.
import type { StorageRequest } from '#s3/call.ts'
import type { StorageSettings } from '#s3/settings.ts'
import type { Origin } from './website-route.ts'
import { encodePath } from '#s3/target.ts'

/** The host in the request, and the protocol by which clients reach the service: a proxy may end TLS. */
export const requestOrigin = (
  { body: { headers } }: StorageRequest,
  { website: { protocol } }: StorageSettings,
): Origin => ({ protocol, host: headers.host ?? '' })

/** The address of an object, in the style of the request: path or virtual host. */
export function objectAddress(
  { body: { target } }: StorageRequest,
  key: string,
  { protocol, host }: Origin,
): string {
  const path = target.form === 'host' ? key : `${target.bucket}/${key}`
  return `${protocol}://${host}/${encodePath(path)}`
}
