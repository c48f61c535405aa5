// Access keys derived from a token's id and the installation's secret; none is stored. There are two kinds: a key
// pair for a token, whose id is no secret, and a key for one presigned address. Both live as long as their token.
import { createHmac, hkdfSync } from 'node:crypto'
import { canonicalJson } from '#base/canonical-json.ts'
import { idBody } from '#base/ids.ts'
import type { Secret } from '#base/log.ts'

/** The request that a presigned address permits. */
export type Purpose = {
  readonly account: string
  readonly method: string
  readonly bucket: string
  readonly key: string
  readonly expiresMs: number
}

/** A derived access key as a request names it. */
export type DerivedId = { readonly kind: 'presigned' | 'pair'; readonly token: string }
export type AccessPair = { readonly id: string; readonly secret: string }

export interface DerivedKeys {
  /** The kind and the token of a derived access key; undefined for any other text. */
  read(accessKey: string): DerivedId | undefined
  /** The key of one address. */
  presigned(token: string, purpose: Purpose): AccessPair
  /** The pair of a token. */
  pair(token: string): AccessPair
}

type BoundFields = Readonly<Record<string, string>>

const KEY_BYTES = 32
const PREFIXES = { presigned: 'svcp_', pair: 'svck_' } as const

/** `secret` is the installation's. */
export function createDerivedKeys(secret: Secret): DerivedKeys {
  const key = Buffer.from(
    hkdfSync('sha256', secret.reveal(), '', 'ergon access keys v1', KEY_BYTES),
  )
  const make = (kind: DerivedId['kind'], token: string, purpose: BoundFields): AccessPair => {
    // Canonical, so that each purpose has one text.
    const text = canonicalJson({ kind, token, ...purpose })
    return {
      id: PREFIXES[kind] + (idBody('tok', token) ?? ''),
      secret: createHmac('sha256', key).update(text).digest('base64url'),
    }
  }
  return {
    read(accessKey) {
      for (const kind of ['presigned', 'pair'] as const) {
        if (!accessKey.startsWith(PREFIXES[kind])) continue
        const token = `tok_${accessKey.slice(PREFIXES[kind].length)}`
        if (idBody('tok', token) !== undefined) return { kind, token }
      }
      return undefined
    },
    presigned: (token, { expiresMs, ...purpose }) =>
      make('presigned', token, { ...purpose, expires_ms: String(expiresMs) }),
    pair: (token) => make('pair', token, {}),
  }
}
