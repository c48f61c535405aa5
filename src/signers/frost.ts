// signers/ holds the five processes whose threshold key signs the log, and their coordinator. This
// file is the only door to the FROST library (RFC 9591, Ed25519 with SHA-512), and its JSON forms.
import type {
  DKG_Round1,
  DKG_Secret,
  FrostPublic,
  FrostSecret,
  NonceCommitments,
  Nonces,
} from '@noble/curves/abstract/frost.js'
import { ed25519_FROST as frost } from '@noble/curves/ed25519.js'
import { present } from '#base/errors.ts'
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '#tlog/checkpoint.ts'
import { SIGNERS, THRESHOLD, type Commitment, type DkgPackage, type GroupKey } from './wire.ts'

const SCALAR_BYTES = 32
const ROUND = { min: THRESHOLD, max: SIGNERS }

/** A signer's own part; `signingShare` is the secret, base64. */
export type KeyShare = { readonly group: GroupKey; readonly signingShare: string }

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const identifier = (index: number): string => frost.Identifier.fromNumber(index)

/** Base64 of exactly so many bytes. Throws RangeError: what comes from another process is not trusted. */
export function decode(value: unknown, length: number): Uint8Array<ArrayBuffer> {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  if (bytes.length !== length) throw new RangeError(`Could not read ${length} bytes of base64`)
  return Uint8Array.from(bytes)
}

/** The group's Ed25519 public key. */
export const publicKeyOf = (group: GroupKey): Buffer =>
  Buffer.from(decode(group.commitments[0], PUBLIC_KEY_BYTES))

const frostPublic = (group: GroupKey): FrostPublic => ({
  signers: ROUND,
  commitments: group.commitments.map((point) => decode(point, PUBLIC_KEY_BYTES)),
  verifyingShares: Object.fromEntries(
    Object.entries(group.verifyingShares).map(([id, point]) => [
      id,
      decode(point, PUBLIC_KEY_BYTES),
    ]),
  ),
})

const frostCommitment = (commitment: Commitment): NonceCommitments => ({
  identifier: identifier(commitment.index),
  hiding: decode(commitment.hiding, PUBLIC_KEY_BYTES),
  binding: decode(commitment.binding, PUBLIC_KEY_BYTES),
})

const dkgRound1 = (index: number, received: DkgPackage): DKG_Round1 => ({
  identifier: identifier(index),
  commitment: received.commitment.map((point) => decode(point, PUBLIC_KEY_BYTES)),
  proofOfKnowledge: decode(received.proof, SIGNATURE_BYTES),
})

/** One signer's run of the key generation; the methods are its three rounds, in order. */
export type DkgRun = {
  readonly own: DkgPackage
  /** The share for each of the other signers, from the packages of those. */
  sharesFor(others: ReadonlyMap<number, DkgPackage>): Map<number, Uint8Array>
  /** The key, from the shares that the others made for this signer. Checks each against its package. */
  finish(shares: ReadonlyMap<number, Uint8Array<ArrayBuffer>>): KeyShare
  /** Forgets the secret polynomial. */
  forget(): void
}

export function startDkg(index: number): DkgRun {
  const { public: own, secret } = frost.DKG.round1(identifier(index), ROUND)
  let packages: DKG_Round1[] = []
  return {
    own: { commitment: own.commitment.map(text), proof: text(own.proofOfKnowledge) },
    sharesFor(others) {
      packages = [...others].map(([from, received]) => dkgRound1(from, received))
      const shares = frost.DKG.round2(secret, packages)
      return new Map(
        [...others.keys()].map((to) => [
          to,
          present(shares[identifier(to)], 'a signer without a share').signingShare,
        ]),
      )
    },
    finish: (shares) => finishDkg(secret, packages, shares),
    forget: () => frost.DKG.clean(secret),
  }
}

function finishDkg(
  secret: DKG_Secret,
  packages: DKG_Round1[],
  shares: ReadonlyMap<number, Uint8Array<ArrayBuffer>>,
): KeyShare {
  const received = [...shares].map(([from, signingShare]) => ({
    identifier: identifier(from),
    signingShare,
  }))
  const key = frost.DKG.round3(secret, packages, received)
  const verifyingShares = Object.entries(key.public.verifyingShares)
  return {
    group: {
      commitments: key.public.commitments.map(text),
      verifyingShares: Object.fromEntries(
        verifyingShares.map(([id, point]) => [id, text(point)] as const).toSorted(byId),
      ),
    },
    signingShare: text(key.secret.signingShare),
  }
}

// Every signer prints the same group in the same order, so that the coordinator can compare texts.
const byId = ([a]: readonly [string, string], [b]: readonly [string, string]): number =>
  a < b ? -1 : 1

/** What one signer does with its share. */
export type ShareHolder = {
  /** A fresh pair of nonces. They must be used at most once and never be written down. */
  commit(): { nonces: Nonces; commitment: Commitment }
  /** This signer's share of a signature, base64. Overwrites the nonces. */
  sign(message: Uint8Array, nonces: Nonces, commitments: readonly Commitment[]): string
}

/** Throws when the share is not of that group. */
export function openShare(index: number, share: KeyShare): ShareHolder {
  const group = frostPublic(share.group)
  const secret: FrostSecret = {
    identifier: identifier(index),
    signingShare: decode(share.signingShare, SCALAR_BYTES),
  }
  frost.validateSecret(secret, group)
  return {
    commit() {
      const { nonces, commitments } = frost.commit(secret)
      const { hiding, binding } = commitments
      return { nonces, commitment: { index, hiding: text(hiding), binding: text(binding) } }
    },
    sign: (message, nonces, commitments) =>
      text(frost.signShare(secret, group, nonces, commitments.map(frostCommitment), message)),
  }
}

/** A signature of the group, or the signers whose shares were wrong. */
export type Aggregated =
  | { readonly signature: Buffer; readonly cheaters?: never }
  | { readonly cheaters: readonly number[]; readonly signature?: never }

/** Puts shares together; `shares` are base64, by signer. */
export function aggregate(
  group: GroupKey,
  message: Uint8Array,
  commitments: readonly Commitment[],
  shares: ReadonlyMap<number, string>,
): Aggregated {
  const malformed = [...shares].filter(([, share]) => !isScalar(share)).map(([index]) => index)
  if (malformed.length > 0) return { cheaters: malformed }
  const byIdentifier = Object.fromEntries(
    [...shares].map(([index, share]) => [identifier(index), decode(share, SCALAR_BYTES)]),
  )
  try {
    const list = commitments.map(frostCommitment)
    return {
      signature: Buffer.from(frost.aggregate(frostPublic(group), list, message, byIdentifier)),
    }
  } catch (error) {
    const named = namedCheaters(error)
    if (named.length === 0) throw error
    return { cheaters: [...shares.keys()].filter((index) => named.includes(identifier(index))) }
  }
}

// The library throws for a share that is no scalar before it has asked whose it was.
function isScalar(share: string): boolean {
  try {
    frost.utils.Fn.fromBytes(decode(share, SCALAR_BYTES))
    return true
  } catch (error) {
    if (error instanceof Error) return false
    throw error
  }
}

const namedCheaters = (error: unknown): readonly unknown[] =>
  error instanceof Error && 'cheaters' in error && Array.isArray(error.cheaters)
    ? error.cheaters
    : []
