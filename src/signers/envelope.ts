// Shares on their way from signer to signer during key generation, past the coordinator that carries
// them: X25519 (RFC 7748), HKDF-SHA-256 (RFC 5869), AES-256-GCM, with keys made for one ceremony.
//
// This keeps the shares from a coordinator that only looks: its logs, its memory dump, a capture of
// the sockets. It does not stop a coordinator that lies about the exchange keys and sits in between;
// that needs keys which the signers' hosts know of each other by another way. The transcript hash that
// all five return (dkg.ts) makes an inconsistent lie visible, a consistent one not.
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
// RFC 8410 §4: the fixed DER head of an X25519 SubjectPublicKeyInfo.
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex')

export type ExchangeKey = { readonly privateKey: KeyObject; readonly publicKey: Buffer }

/** Sender, receiver and ceremony, bound into the key, so that an envelope fits nowhere else. */
export type EnvelopeRoute = {
  readonly from: number
  readonly to: number
  readonly transcript: Buffer
}

export function newExchangeKey(): ExchangeKey {
  const pair = generateKeyPairSync('x25519')
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)
  return { privateKey: pair.privateKey, publicKey }
}

/** nonce ‖ ciphertext ‖ tag. */
export function sealEnvelope(secret: Uint8Array, key: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
}

/** Throws when the envelope was made for another route or altered. */
export function openEnvelope(envelope: Buffer, key: Buffer): Buffer {
  const nonce = envelope.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(envelope.subarray(-TAG_BYTES))
  return Buffer.concat([
    decipher.update(envelope.subarray(NONCE_BYTES, -TAG_BYTES)),
    decipher.final(),
  ])
}

/** The key of one envelope; both ends derive the same from their own private and the other's public key. */
export function envelopeKey(privateKey: KeyObject, peer: Uint8Array, route: EnvelopeRoute): Buffer {
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, peer]),
    format: 'der',
    type: 'spki',
  })
  const secret = diffieHellman({ privateKey, publicKey })
  const info = `ergon signer share ${route.from} to ${route.to}`
  return Buffer.from(hkdfSync('sha256', secret, route.transcript, info, KEY_BYTES))
}
