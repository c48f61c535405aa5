// The public keys of the log, as published at /.well-known/ergon/receipt-keys.json and pinned by
// verifiers. A key is never removed from the list: old receipts need it.
import { fault } from '#contract/errors.ts'
import type { ErgonError } from '#base/errors.ts'
import {
  fromBase64,
  originOf,
  PUBLIC_KEY_BYTES,
  publicKeyPem,
  shardOf,
  verifierKey,
} from './checkpoint.ts'

/**
 * One shard of the log and the key that signs it. `validFrom` is RFC 3339; `link` is the text of the last checkpoint
 * of the shard before, where there was one: leaf 0. `handover` is the statement of the key before about this one,
 * where it was asked (handover.ts).
 */
export type ReceiptKey = {
  readonly origin: string
  readonly shard: string
  readonly publicKey: Buffer
  readonly validFrom: string
  readonly link?: string | undefined
  readonly handover?: string | undefined
}

/** The published form; the same key in the four spellings that tools ask for. */
export type ReceiptKeysJson = {
  readonly keys: readonly {
    readonly origin: string
    readonly shard: string
    readonly valid_from: string
    readonly algorithm: 'Ed25519'
    readonly public_key: string
    readonly public_key_hex: string
    readonly public_key_pem: string
    readonly verifier_key: string
    readonly link?: string | undefined
    readonly handover?: string | undefined
  }[]
}

export const receiptKeysJson = (keys: readonly ReceiptKey[]): ReceiptKeysJson => ({
  keys: keys.map(({ origin, shard, publicKey, validFrom, link, handover }) => ({
    origin,
    shard,
    valid_from: validFrom,
    algorithm: 'Ed25519',
    public_key: publicKey.toString('base64'),
    public_key_hex: publicKey.toString('hex'),
    public_key_pem: publicKeyPem(publicKey),
    verifier_key: verifierKey(origin, publicKey),
    ...(link === undefined ? {} : { link }),
    ...(handover === undefined ? {} : { handover }),
  })),
})

/**
 * Reads the published form. Every origin must name the key beside it, so that a list in which a key
 * was swapped is refused. Throws ErgonError `receipt_keys_invalid`.
 */
export function parseReceiptKeys(text: string): ReceiptKey[] {
  let read: Partial<ReceiptKeysJson> | null
  try {
    read = JSON.parse(text) as Partial<ReceiptKeysJson> | null
  } catch (cause) {
    throw invalid('not JSON', cause)
  }
  if (!Array.isArray(read?.keys)) throw invalid('no list of keys')
  return read.keys.map((key: Partial<ReceiptKeysJson['keys'][number]> | null) => {
    const publicKey = fromBase64(String(key?.public_key), PUBLIC_KEY_BYTES)
    const origin = String(key?.origin)
    const shard = shardOf(origin, publicKey)
    if (shard === undefined)
      throw invalid(`${origin} is not ${originOf(publicKey, '<shard>')}, which its key makes it`)
    const link = key?.link === undefined ? {} : { link: String(key.link) }
    const handover = key?.handover === undefined ? {} : { handover: String(key.handover) }
    return { origin, shard, publicKey, validFrom: String(key?.valid_from), ...link, ...handover }
  })
}

const invalid = (detail: string, cause?: unknown): ErgonError =>
  fault('receipt_keys_invalid', `Could not read the receipt keys: ${detail}`, { cause })
