// Verifies the signature of a request, version 4 or 2. Signatures of chunks are chained to one of version 4.
import { createHmac, hash } from 'node:crypto'
import type { ErrorDetails } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { canonicalRequest, headerValues, type SignedRequest } from './canonical.ts'
import { ALGORITHM, type SignedCredential } from './credential.ts'
import { sameSignature } from './same-signature.ts'
import { checkTextV2, textsToSign, type CredentialV2, type SignedRequestV2 } from './version-two.ts'

const SKEW_MAX_MS = 15 * 60_000
const KEYS_MAX = 1024

/** The start of the chain of chunk and trailer signatures (AWS, "Transferring payload in multiple chunks"). */
export type Seed = {
  readonly signingKey: Buffer
  readonly timestamp: string
  /** `<date>/<region>/<service>/aws4_request` */
  readonly scope: string
  readonly signature: string
}

export type VerifiedSignature = {
  /** The seed of signed pieces, in version 4. */
  readonly seed: Seed | undefined
  /** The payload line that was signed: a hash, `UNSIGNED-PAYLOAD` or a `STREAMING-…` mode. */
  readonly payload: string
}

export type SignatureVerifier = {
  /**
   * Checks a header or query signature with the secret of its access key. Throws
   * SignatureDoesNotMatch, RequestTimeTooSkewed, AccessDenied (expired, not yet valid, headers left
   * out of the signature), InvalidRequest (version 4 without x-amz-content-sha256).
   */
  verify(
    credential: SignedCredential | CredentialV2,
    secret: string,
    request: SignedRequestV2,
  ): VerifiedSignature
  /** Verifies a signature over a text, such as the policy of a browser form. */
  verifyText(credential: SignedCredential, secret: string, text: string): void
}

/** `now` in milliseconds. At most 1,024 signing keys are cached: a derivation costs four HMACs. */
export function createSignatureVerifier(deps: { readonly now: () => number }): SignatureVerifier {
  const keys = new Map<string, Buffer>()
  const keyOf = (credential: SignedCredential, secret: string): Buffer => {
    const name = `${scopeOf(credential)} ${secret}`
    const known = keys.get(name)
    if (known !== undefined) return known
    const key = signingKey(credential, secret)
    const [oldest] = keys.keys()
    if (keys.size >= KEYS_MAX && oldest !== undefined) keys.delete(oldest)
    keys.set(name, key)
    return key
  }

  function verifyV4(
    credential: SignedCredential,
    secret: string,
    request: SignedRequest,
  ): VerifiedSignature {
    checkTime(credential, deps.now())
    const headers = headerValues(request.rawHeaders)
    checkSignedHeaders(credential.signedHeaders, headers)
    const payload = payloadOf(credential, request, headers)
    const canonical = canonicalRequest(request, credential.signedHeaders, headers, payload)
    const scope = scopeOf(credential)
    const { timestamp } = credential
    const digest = hash('sha256', Buffer.from(canonical, 'latin1'), 'hex')
    const text = `${ALGORITHM}\n${timestamp}\n${scope}\n${digest}`
    const key = keyOf(credential, secret)
    refuseOther(credential.signature, sign(key, text), text)
    return {
      seed: { signingKey: key, timestamp, scope, signature: credential.signature },
      payload,
    }
  }

  return {
    verify(credential, secret, request) {
      if (!isV2(credential)) return verifyV4(credential, secret, request)
      checkTimeV2(credential, deps.now())
      checkTextV2(textsToSign(request, credential), credential.signature, secret)
      const payload = headerValues(request.rawHeaders).get('x-amz-content-sha256')
      return { seed: undefined, payload: payload ?? 'UNSIGNED-PAYLOAD' }
    },
    verifyText(credential, secret, text) {
      refuseOther(credential.signature, sign(keyOf(credential, secret), text), text)
    },
  }
}

const isV2 = (credential: SignedCredential | CredentialV2): credential is CredentialV2 =>
  credential.kind === 'header-v2' || credential.kind === 'query-v2'

const BLOCK_BYTES = 64

/**
 * The hex signature of a text: HMAC-SHA256 (RFC 2104) with a key of 32 bytes. Two one-shot hashes take
 * a sixth of the time of node's createHmac, which was two thirds of a verification.
 */
export function sign(key: Buffer, text: string): string {
  const inner = Buffer.alloc(BLOCK_BYTES + Buffer.byteLength(text)).fill(0x36, 0, BLOCK_BYTES)
  const outer = Buffer.alloc(BLOCK_BYTES + 32).fill(0x5c, 0, BLOCK_BYTES)
  for (const [at, byte] of key.entries()) {
    inner[at] = byte ^ 0x36
    outer[at] = byte ^ 0x5c
  }
  inner.write(text, BLOCK_BYTES)
  hash('sha256', inner, 'buffer').copy(outer, BLOCK_BYTES)
  return hash('sha256', outer, 'hex')
}

type Scoped = Pick<SignedCredential, 'date' | 'region' | 'service'>

const scopeOf = ({ date, region, service }: Scoped): string =>
  `${date}/${region}/${service}/aws4_request`

/** The key of a secret for one day, region and service. */
export function signingKey({ date, region, service }: Scoped, secret: string): Buffer {
  const step = (key: Buffer | string, text: string) =>
    createHmac('sha256', key).update(text).digest()
  return step(step(step(step(`AWS4${secret}`, date), region), service), 'aws4_request')
}

function checkTime({ timeMs, expiresS, timestamp }: SignedCredential, nowMs: number): void {
  if (expiresS === undefined) return checkSkew(timeMs, timestamp, nowMs)
  if (timeMs - nowMs > SKEW_MAX_MS)
    throw storageFault('AccessDenied', 'Request is not valid yet', {
      ServerTime: new Date(nowMs).toISOString(),
    })
  checkEnd(timeMs + expiresS * 1000, nowMs, { 'X-Amz-Expires': expiresS })
}

function checkTimeV2({ kind, timeMs }: CredentialV2, nowMs: number): void {
  if (kind === 'query-v2') checkEnd(timeMs, nowMs)
  else checkSkew(timeMs, new Date(timeMs).toISOString(), nowMs)
}

function checkSkew(timeMs: number, RequestTime: string, nowMs: number): void {
  if (Math.abs(nowMs - timeMs) > SKEW_MAX_MS)
    throw storageFault('RequestTimeTooSkewed', undefined, {
      RequestTime,
      ServerTime: new Date(nowMs).toISOString(),
      MaxAllowedSkewMilliseconds: SKEW_MAX_MS,
    })
}

function checkEnd(endMs: number, nowMs: number, more: ErrorDetails = {}): void {
  if (nowMs > endMs)
    throw storageFault('AccessDenied', 'Request has expired', {
      ...more,
      Expires: new Date(endMs).toISOString(),
      ServerTime: new Date(nowMs).toISOString(),
    })
}

/** Only host and x-amz-* must be signed: requiring more would exclude restic, which does not sign content-type. */
function checkSignedHeaders(signed: readonly string[], headers: ReadonlyMap<string, string>): void {
  const names = new Set(signed)
  const left = [...headers.keys()].filter((name) => name.startsWith('x-amz-') && !names.has(name))
  if (!names.has('host')) left.unshift('host')
  if (left.length > 0)
    throw storageFault(
      'AccessDenied',
      'There were headers present in the request which were not signed',
      { HeadersNotSigned: left.join(', ') },
    )
}

function payloadOf(
  { kind }: SignedCredential,
  { rawQuery }: SignedRequest,
  headers: ReadonlyMap<string, string>,
): string {
  const header = headers.get('x-amz-content-sha256')
  if (header !== undefined) return header
  if (kind === 'query')
    return /(?:^|&)X-Amz-Content-Sha256=([^&]*)/i.exec(rawQuery)?.[1] ?? 'UNSIGNED-PAYLOAD'
  throw storageFault(
    'InvalidRequest',
    'Missing required header for this request: x-amz-content-sha256',
  )
}

function refuseOther(given: string, expected: string, text: string): void {
  if (sameSignature(given, expected)) return
  // Unlike AWS the message does not repeat the access key, which may be the secret itself here.
  throw storageFault('SignatureDoesNotMatch', undefined, {
    StringToSign: text,
    SignatureProvided: given,
  })
}
