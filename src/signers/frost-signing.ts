// The two rounds of RFC 9591 with FROST(Ed25519, SHA-512). Tested with the vectors of appendix E.1 and
// against another implementation.
import { randomBytes, verify } from 'node:crypto'
import { invariant, present } from '#base/errors.ts'
import { publicKeyObject } from '#tlog/checkpoint.ts'
import {
  addScalars,
  addPoints,
  challengeOf,
  decode,
  hash,
  hashToScalar,
  invert,
  isSamePoint,
  isZero,
  multiply,
  multiplyBase,
  multiplyPoint,
  readPoint,
  SCALAR_BYTES,
  subtractScalars,
  base64Of,
  toId,
  toScalar,
  type Point,
  type Scalar,
} from './frost-group.ts'
import { checkShare, identifierOf, publicKeyOf, type KeyShare } from './frost-key.ts'
import { SIGNERS, type Commitment, type GroupKey } from './wire.ts'

/** The secret half of a pair of nonces; all zero once it was used. */
export type Nonces = { readonly hiding: Uint8Array; readonly binding: Uint8Array }

/** The operations of one signer with its share. */
export type ShareHolder = {
  /** A fresh pair of nonces. They must be used at most once and never be written down. */
  commit(): { nonces: Nonces; commitment: Commitment }
  /**
   * This signer's share of a signature, base64. Overwrites the nonces, also when it throws. Throws RangeError when a
   * commitment is no element of the group, or this signer's is not that of its nonces. The same for used nonces,
   * and for too few, too many or repeated signers.
   */
  sign(message: Uint8Array, nonces: Nonces, commitments: readonly Commitment[]): string
}

/** A signature of the group, or the signers whose shares were wrong. */
export type Aggregated =
  | { readonly signature: Buffer; readonly cheaters?: never }
  | { readonly cheaters: readonly number[]; readonly signature?: never }

/** Throws when the share is not of that group. `random` makes that number of bytes; only test vectors replace it. */
export function openShare(index: number, share: KeyShare, random = randomBytes): ShareHolder {
  checkShare(index, share)
  const secret = decode(share.signingShare, SCALAR_BYTES)
  // RFC 9591 §4.1.
  const nonce = () => hashToScalar('nonce', random(SCALAR_BYTES), secret)
  return {
    commit() {
      const nonces = { hiding: nonce(), binding: nonce() }
      return { nonces, commitment: { index, ...publicHalf(nonces) } }
    },
    // RFC 9591 §5.2.
    sign(message, nonces, commitments) {
      if (isZero(nonces.hiding) || isZero(nonces.binding))
        throw new RangeError('Could not sign: the nonces were used')
      try {
        const own = commitments.find((one) => one.index === index)
        const { hiding, binding } = publicHalf(nonces)
        if (own?.hiding !== hiding || own.binding !== binding)
          throw new RangeError('Could not sign: the commitment is not that of the nonces')
        const round = openRound(share.group, message, commitments)
        const weighted = multiply(multiply(round.lagrange(index), secret), round.challenge)
        const blinded = addScalars(nonces.hiding, multiply(nonces.binding, round.factor(index)))
        return base64Of(addScalars(blinded, weighted))
      } finally {
        forget(nonces)
      }
    },
  }
}

/** Overwrites nonces that will not be used any more. */
export function forget({ hiding, binding }: Nonces): void {
  hiding.fill(0)
  binding.fill(0)
}

/**
 * Puts shares together (RFC 9591 §5.3); `shares` are base64, by signer. The signature is checked as a
 * whole. Only a wrong signature makes each share be checked, to name the signer of the wrong share.
 */
export function aggregate(
  group: GroupKey,
  message: Uint8Array,
  commitments: readonly Commitment[],
  shares: ReadonlyMap<number, string>,
): Aggregated {
  const scalars = new Map([...shares].map(([index, share]) => [index, readSignatureShare(share)]))
  const malformed = [...scalars].flatMap(([index, scalar]) => (scalar ? [] : [index]))
  if (malformed.length > 0) return { cheaters: malformed }
  const shareOf = (index: number) => present(scalars.get(index), 'a signer without a share')
  const round = openRound(group, message, commitments)
  const sum = commitments.map(({ index }) => shareOf(index)).reduce(addScalars)
  const signature = Buffer.concat([round.commitment, sum])
  if (verify(null, message, publicKeyObject(publicKeyOf(group)), signature)) return { signature }
  const cheaters = commitments
    .map(({ index }) => index)
    .filter((index) => !round.isShareOf(index, shareOf(index)))
  invariant(cheaters.length > 0, 'right shares that make a wrong signature')
  return { cheaters }
}

/** The values that all signers of one round compute alike. */
type Round = {
  readonly commitment: Point
  readonly challenge: Scalar
  factor(index: number): Scalar
  lagrange(index: number): Scalar
  isShareOf(index: number, share: Scalar): boolean
}

function openRound(
  group: GroupKey,
  message: Uint8Array,
  commitments: readonly Commitment[],
): Round {
  const groupKey = publicKeyOf(group)
  checkSigners(commitments, group)
  const list = commitments.map(toPair).toSorted((a, b) => a.index - b.index)
  // §4.4
  const encoded = list.flatMap(({ index, hiding, binding }) => [toId(index), hiding, binding])
  const prefix = [groupKey, hash('msg', message), hash('com', ...encoded)]
  const factors = new Map(
    list.map(({ index }) => [index, hashToScalar('rho', ...prefix, toId(index))]),
  )
  const factor = (index: number) => present(factors.get(index), 'a signer outside of the round')
  // §4.5
  const parts = list.map(({ index, hiding, binding }) =>
    addPoints(hiding, multiplyPoint(factor(index), binding)),
  )
  const commitment = parts.reduce(addPoints)
  // §4.6
  const challenge = challengeOf(commitment, groupKey, message)
  const lagrange = (index: number) => lagrangeAt(index, list)
  return {
    commitment,
    challenge,
    factor,
    lagrange,
    // §5.4: share·B = part + (challenge · lagrange)·verifying share
    isShareOf(index, share) {
      const key = readPoint(group.verifyingShares[identifierOf(index)])
      const weight = multiply(challenge, lagrange(index))
      const part = parts[list.findIndex((one) => one.index === index)]
      const expected = addPoints(
        present(part, 'a signer outside of the round'),
        multiplyPoint(weight, key),
      )
      // Zero is a scalar, and no share: it has no point.
      return !isZero(share) && isSamePoint(multiplyBase(share), expected)
    },
  }
}

/** Before any point is looked at: a long list of them would keep this process. */
function checkSigners(commitments: readonly Commitment[], group: GroupKey): void {
  const numbers = new Set(commitments.map(({ index }) => index))
  // The key's polynomial has as many coefficients as signers are needed.
  if (commitments.length < group.commitments.length || commitments.length > SIGNERS)
    throw new RangeError(`Could not open the round: ${commitments.length} signers`)
  if (numbers.size !== commitments.length)
    throw new RangeError('Could not open the round: a signer twice')
}

/** RFC 9591 §4.2. */
function lagrangeAt(index: number, list: readonly { readonly index: number }[]): Scalar {
  const own = toId(index)
  const others = list.filter((one) => one.index !== index).map((one) => toId(one.index))
  const numerator = others.reduce(multiply)
  const denominator = others.map((other) => subtractScalars(other, own)).reduce(multiply)
  return multiply(numerator, invert(denominator))
}

function publicHalf({ hiding, binding }: Nonces): { hiding: string; binding: string } {
  return {
    hiding: base64Of(multiplyBase(hiding)),
    binding: base64Of(multiplyBase(binding)),
  }
}

const toPair = ({ index, hiding, binding }: Commitment) => ({
  index,
  hiding: readPoint(hiding),
  binding: readPoint(binding),
})

/** Reads a received signature share. Undefined for a text that is no scalar. */
function readSignatureShare(share: string): Scalar | undefined {
  try {
    return toScalar(decode(share, SCALAR_BYTES))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
