// signers/ holds the five processes whose threshold key signs the log, and their coordinator. This
// file is the only door to the library that makes the key (RFC 9591 appendix C), and its JSON forms.
import type { DKG_Round1, DKG_Secret } from '@noble/curves/abstract/frost.js'
import { ed25519_FROST as frost } from '@noble/curves/ed25519.js'
import { present } from '#base/errors.ts'
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '#tlog/checkpoint.ts'
import { SIGNERS, THRESHOLD, type DkgPackage, type GroupKey } from './wire.ts'

const SCALAR_BYTES = 32
const ROUND = { min: THRESHOLD, max: SIGNERS }

/** A signer's own part; `signingShare` is the secret, base64. */
export type KeyShare = { readonly group: GroupKey; readonly signingShare: string }

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
/** How the library writes a signer's number: a scalar in hex. */
export const identifierOf = (index: number): string => frost.Identifier.fromNumber(index)

/** Base64 of exactly so many bytes. Throws RangeError: what comes from another process is not trusted. */
export function decode(value: unknown, length: number): Uint8Array<ArrayBuffer> {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  if (bytes.length !== length) throw new RangeError(`Could not read ${length} bytes of base64`)
  return Uint8Array.from(bytes)
}

/** The group's Ed25519 public key. */
export const publicKeyOf = (group: GroupKey): Buffer =>
  Buffer.from(decode(group.commitments[0], PUBLIC_KEY_BYTES))

const dkgRound1 = (index: number, received: DkgPackage): DKG_Round1 => ({
  identifier: identifierOf(index),
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
  const { public: own, secret } = frost.DKG.round1(identifierOf(index), ROUND)
  let packages: DKG_Round1[] = []
  return {
    own: { commitment: own.commitment.map(text), proof: text(own.proofOfKnowledge) },
    sharesFor(others) {
      packages = [...others].map(([from, received]) => dkgRound1(from, received))
      const shares = frost.DKG.round2(secret, packages)
      return new Map(
        [...others.keys()].map((to) => [
          to,
          present(shares[identifierOf(to)], 'a signer without a share').signingShare,
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
    identifier: identifierOf(from),
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

/** Throws when the share is not the one of that signer in that group. */
export function checkShare(index: number, { group, signingShare }: KeyShare): void {
  frost.validateSecret(
    { identifier: identifierOf(index), signingShare: decode(signingShare, SCALAR_BYTES) },
    {
      signers: {
        min: group.commitments.length,
        max: Object.keys(group.verifyingShares).length,
      },
      commitments: group.commitments.map((point) => decode(point, PUBLIC_KEY_BYTES)),
      verifyingShares: Object.fromEntries(
        Object.entries(group.verifyingShares).map(([id, point]) => [
          id,
          decode(point, PUBLIC_KEY_BYTES),
        ]),
      ),
    },
  )
}
