// The signature of a delivery, in the two forms that receivers check: X-Svc-Signature, and the headers of Standard
// Webhooks (standardwebhooks.com). During a rotation each has a signature by either secret.
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
/** Standard Webhooks asks for 24 to 64 bytes. */
const KEY_BYTES = 24

export const newSigningSecret = (): string => PREFIX + randomBytes(KEY_BYTES).toString('base64')

export type SignedEvent = {
  readonly id: string
  readonly type: string
  /** Unix time in seconds, of this attempt. */
  readonly timestamp: number
  /** The body as it is sent. */
  readonly body: string | Uint8Array
  /** The newest first. */
  readonly secrets: readonly string[]
}

/**
 * The headers of a delivery. X-Svc-Signature takes the whole text of the secret as its key; Standard Webhooks the
 * bytes behind the prefix.
 */
export function signedHeaders(event: SignedEvent): Record<string, string> {
  const { id, type, timestamp, body, secrets } = event
  const own = secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.`, body).digest('hex')}`)
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${hmac(key, `${id}.${timestamp}.`, body).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'user-agent': 'Ergon-Webhook/1.0',
    'x-svc-event': type,
    'x-svc-event-id': id,
    'x-svc-timestamp': String(timestamp),
    'x-svc-signature': [`t=${timestamp}`, ...own].join(','),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  }
}

const hmac = (key: string | Uint8Array, head: string, body: string | Uint8Array) =>
  createHmac('sha256', key).update(head).update(body)
