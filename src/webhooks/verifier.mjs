// The verifier for receivers, exported as `@ergon-cloud/ergon/webhooks`. JavaScript, as Node.js strips no types of files
// below node_modules. It imports nothing of the product.
import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_S = 300

/** Why a request is not a genuine delivery. */
export class WebhookVerificationError extends Error {
  name = 'WebhookVerificationError'
}

/**
 * Checks a delivery and returns its event.
 * @type {import('./verifier.d.mts').verifyWebhook}
 */
export function verifyWebhook(body, headers, secret, options = {}) {
  const { toleranceS = TOLERANCE_S, nowMs = Date.now() } = options
  const secrets = Array.isArray(secret) ? secret : [secret]
  checkCall(secrets, toleranceS, nowMs)
  const { timestamp, signatures } = readSignature(headerOf(headers, 'x-svc-signature'))
  const ageS = Math.abs(nowMs / 1000 - Number(timestamp))
  if (ageS > toleranceS)
    throw new WebhookVerificationError(`The delivery is ${Math.round(ageS)} s old or ahead`)
  const isGenuine = secrets.some((one) => {
    const mac = createHmac('sha256', one).update(`${timestamp}.`).update(body).digest()
    return signatures.some((given) => given.length === mac.length && timingSafeEqual(given, mac))
  })
  if (!isGenuine) throw new WebhookVerificationError('No signature fits the secret and the body')
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'))
}

/** Everyone can sign with an empty secret, and a comparison with NaN refuses no time: the receiver's own mistakes. */
function checkCall(secrets, toleranceS, nowMs) {
  const isSecret = (one) => typeof one === 'string' && /^whsec_./.test(one)
  if (secrets.length === 0 || !secrets.every(isSecret))
    throw new TypeError(
      'A webhook needs its secret, the whsec_… that `ergon webhook create` printed: it is missing or empty',
    )
  if (!Number.isFinite(toleranceS) || !Number.isFinite(nowMs))
    throw new RangeError('toleranceS and nowMs are finite numbers')
}

function readSignature(header) {
  const parts = header.split(',').map((part) => part.trim())
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
  if (!/^\d{1,15}$/.test(timestamp) || signatures.length === 0)
    throw new WebhookVerificationError('The header X-Svc-Signature is missing or malformed')
  return { timestamp, signatures }
}

/** A header of a request of node:http or Fetch, or of a plain object. */
function headerOf(headers, name) {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return Array.isArray(value) ? value.join(',') : (value ?? '')
}
