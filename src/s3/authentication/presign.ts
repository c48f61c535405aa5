// Signs an address, as SDKs do: the signature is in the query, and host is the only signed header (AWS,
// "Authenticating Requests: Using Query Parameters").
import { hash } from 'node:crypto'
import type { ReadObject } from '#node/agent-part.ts'
import { encodeName, encodePath } from '#s3/target.ts'
import { canonicalRequest } from './canonical.ts'
import { ALGORITHM } from './credential.ts'
import type { AccessPair, DerivedKeys } from './derived-keys.ts'
import { sign, signingKey } from './verify.ts'

export type Presigned = {
  /** Scheme, host and port. */
  readonly origin: string
  readonly method: string
  readonly bucket: string
  readonly key: string
  readonly region: string
  readonly fromMs: number
  readonly expiresS: number
}

/** The address, path style. `fromMs` is a whole second. */
export function presignedUrl(
  { origin, method, bucket, key, region, fromMs, expiresS }: Presigned,
  pair: AccessPair,
): string {
  const timestamp = new Date(fromMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const scoped = { date: timestamp.slice(0, 8), region, service: 's3' }
  const scope = `${scoped.date}/${region}/s3/aws4_request`
  const query = [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Content-Sha256', 'UNSIGNED-PAYLOAD'],
    ['X-Amz-Credential', `${pair.id}/${scope}`],
    ['X-Amz-Date', timestamp],
    ['X-Amz-Expires', String(expiresS)],
    ['X-Amz-SignedHeaders', 'host'],
  ]
  const rawQuery = query.map(([name = '', value = '']) => `${name}=${encodeName(value)}`).join('&')
  const rawPath = `/${encodePath(`${bucket}/${key}`)}`
  const { host } = new URL(origin)
  const canonical = canonicalRequest(
    { method, rawPath, rawQuery, rawHeaders: [] },
    ['host'],
    new Map([['host', host]]),
    'UNSIGNED-PAYLOAD',
  )
  const text = `${ALGORITHM}\n${timestamp}\n${scope}\n${hash('sha256', canonical, 'hex')}`
  const signature = sign(signingKey(scoped, pair.secret), text)
  return `${origin}${rawPath}?${rawQuery}&X-Amz-Signature=${signature}`
}

const READ_S = 86_400

/** An address that reads an object for a day, for code that runs on this node. */
export function readAddress(
  { account, token, bucket, key }: ReadObject,
  {
    keys,
    origin,
    region,
  }: { readonly keys: DerivedKeys; readonly origin: string; readonly region: string },
): string {
  const method = 'GET'
  const fromMs = Math.floor(Date.now() / 1000) * 1000
  const expiresMs = fromMs + READ_S * 1000
  const pair = keys.presigned(token, { account, method, bucket, key, expiresMs })
  return presignedUrl({ origin, method, bucket, key, region, fromMs, expiresS: READ_S }, pair)
}
