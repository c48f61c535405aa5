// Checkpoints: a tree head as a signed note (C2SP tlog-checkpoint and signed-note, key type 0x01).
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { HASH_BYTES, sha256 } from './leaf.ts'
import type { TreeHead } from './tree.ts'

/** The head of the log named `origin`. */
export type Checkpoint = TreeHead & { readonly origin: string }
/** One signature line of a note. */
export type NoteSignature = {
  readonly name: string
  readonly keyId: Buffer
  readonly signature: Buffer
}
/** `body` is the signed text: it ends with a newline. */
export type Note = { readonly body: string; readonly signatures: readonly NoteSignature[] }

export const PUBLIC_KEY_BYTES = 32
export const SIGNATURE_BYTES = 64
const ED25519_TYPE = Buffer.from([1])
const KEY_ID_BYTES = 4
// C2SP signed-note asks for at least 16 signatures; one of ours has 88 characters.
const SIGNATURES_MAX = 16
const NOTE_LENGTH_MAX = 16_384
const SHARD = /^[0-9]{4}(?:\.[1-9][0-9]{0,5})?$/
// RFC 8410 §4: the fixed DER head of an Ed25519 SubjectPublicKeyInfo.
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/**
 * The name of a log: `ergon-<first 16 hex digits of SHA-256(group public key)>/<shard>`, so that it
 * names its own key. A shard is a year, or a year and a count: `2026`, `2026.1`.
 */
export const originOf = (publicKey: Uint8Array, shard: string): string =>
  `ergon-${sha256(publicKey).toString('hex').slice(0, 16)}/${shard}`

/** The shard of an origin of this key, or undefined when the origin is another's. */
export function shardOf(origin: string, publicKey: Uint8Array): string | undefined {
  const shard = origin.slice(originOf(publicKey, '').length)
  return SHARD.test(shard) && origin === originOf(publicKey, shard) ? shard : undefined
}

/** Orders shards by age: negative when `a` is the older. */
export function compareShards(a: string, b: string): number {
  const [yearA = 0, countA = 0] = a.split('.').map(Number)
  const [yearB = 0, countB = 0] = b.split('.').map(Number)
  return yearA - yearB || countA - countB
}

/** The three lines that are signed. */
export const checkpointBody = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/**
 * Reads a body of exactly three lines. C2SP allows extension lines; we refuse them, because they say
 * something that no reader of the log can check.
 */
export function parseCheckpoint(body: string): Checkpoint {
  const [origin = '', size = '', root = '', ...rest] = body.split('\n')
  if (rest.length !== 1 || rest[0] !== '') throw invalid('it is not three lines')
  if (origin === '' || /[\s+]/u.test(origin)) throw invalid('its origin is not a name')
  if (!/^(0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size)))
    throw invalid('its size is not a number')
  return { origin, size: Number(size), root: fromBase64(root, HASH_BYTES) }
}

/** The first four bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key). */
export const keyIdOf = (name: string, publicKey: Uint8Array): Buffer =>
  sha256(Buffer.concat([Buffer.from(`${name}\n`), ED25519_TYPE, publicKey])).subarray(
    0,
    KEY_ID_BYTES,
  )

/** The verifier key in the form that other tools of this format take: name+id+key. */
export const verifierKey = (name: string, publicKey: Uint8Array): string =>
  `${name}+${keyIdOf(name, publicKey).toString('hex')}+${Buffer.concat([ED25519_TYPE, publicKey]).toString('base64')}`

/** A node:crypto key of the 32 bytes of an Ed25519 public key. */
export const publicKeyObject = (publicKey: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' })

/** The same key as a PEM file, for openssl. */
export const publicKeyPem = (publicKey: Uint8Array): string =>
  publicKeyObject(publicKey).export({ format: 'pem', type: 'spki' }).toString()

/** Plain Ed25519 (RFC 8032) over the body. */
const isSignatureOf = (body: string, signature: Uint8Array, publicKey: Uint8Array): boolean =>
  verify(null, Buffer.from(body), publicKeyObject(publicKey), signature)

/** The note: body, blank line, one signature line of the key named like the body's first line. */
export function formatNote(body: string, signature: Uint8Array, publicKey: Uint8Array): string {
  const name = body.slice(0, body.indexOf('\n'))
  const blob = Buffer.concat([keyIdOf(name, publicKey), signature])
  return `${body}\n— ${name} ${blob.toString('base64')}\n`
}

/** Reads a note without verifying it. Throws ErgonError `receipt_invalid`. */
export function parseNote(text: string): Note {
  if (text.length > NOTE_LENGTH_MAX) throw invalid('it is too long')
  const blank = text.lastIndexOf('\n\n')
  if (blank < 0 || !text.endsWith('\n')) throw invalid('it has no signature')
  const lines = text.slice(blank + 2, -1).split('\n')
  if (lines.length > SIGNATURES_MAX) throw invalid('it has too many signatures')
  return { body: text.slice(0, blank + 1), signatures: lines.map(parseSignature) }
}

function parseSignature(line: string): NoteSignature {
  const found = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/u.exec(line)
  if (found === null) throw invalid('a signature line is malformed')
  const blob = fromBase64(found[2] ?? '')
  if (blob.length <= KEY_ID_BYTES) throw invalid('a signature is too short')
  return {
    name: found[1] ?? '',
    keyId: blob.subarray(0, KEY_ID_BYTES),
    signature: blob.subarray(KEY_ID_BYTES),
  }
}

/** True when a known key signed the note. Signatures of unknown keys are ignored, as C2SP asks. */
export function isSignedBy(note: Note, name: string, publicKey: Uint8Array): boolean {
  const keyId = keyIdOf(name, publicKey)
  const ours = note.signatures.filter((each) => each.name === name && each.keyId.equals(keyId))
  return (
    ours.length > 0 &&
    ours.every(
      ({ signature }) =>
        signature.length === SIGNATURE_BYTES && isSignatureOf(note.body, signature, publicKey),
    )
  )
}

/** Standard base64 in its one canonical spelling, of `length` bytes if that is given. */
export function fromBase64(text: string, length?: number): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text || (length !== undefined && bytes.length !== length))
    throw invalid('a value is not base64')
  return bytes
}

const invalid = (detail: string): ErgonError =>
  fault('receipt_invalid', `Could not read the receipt: its checkpoint: ${detail}`)
