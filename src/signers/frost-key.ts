// Making the key that three of five share: Pedersen's distributed generation as in FROST (Komlo and
// Goldberg 2020, figure 1), each signer dealing a polynomial whose coefficients it commits to (Feldman)
// with a proof that it knows the first. No process ever holds the whole key.
import { present } from '#base/errors.ts'
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '#tlog/checkpoint.ts'
import {
  add,
  addPoints,
  decode,
  hashToScalar,
  multiply,
  multiplyBase,
  multiplyPoint,
  randomScalar,
  SCALAR_BYTES,
  text,
  toId,
  toPoint,
  toScalar,
  type Point,
  type Scalar,
} from './frost-group.ts'
import { SIGNERS, THRESHOLD, type DkgPackage, type GroupKey } from './wire.ts'

/** A signer's own part; `signingShare` is the secret, base64. */
export type KeyShare = { readonly group: GroupKey; readonly signingShare: string }

/** How a group key names a signer: its number as a scalar, in hex. */
export const identifierOf = (index: number): string => Buffer.from(toId(index)).toString('hex')

/** The group's Ed25519 public key. */
export const publicKeyOf = (group: GroupKey): Buffer =>
  Buffer.from(decode(group.commitments[0], PUBLIC_KEY_BYTES))

/** One signer's run of the key generation; the methods are its three rounds, in order. */
export type DkgRun = {
  readonly own: DkgPackage
  /**
   * The share for each of the other signers, from the packages of those. Throws RangeError when one is
   * malformed or does not prove that its sender knows what it committed to.
   */
  sharesFor(others: ReadonlyMap<number, DkgPackage>): Map<number, Uint8Array>
  /**
   * The key, from the shares that the others made for this signer. Throws RangeError when one is not
   * what its sender committed to.
   */
  finish(shares: ReadonlyMap<number, Uint8Array>): KeyShare
  /** Forgets the secret polynomial. */
  forget(): void
}

export function startDkg(index: number): DkgRun {
  const polynomial = Array.from({ length: THRESHOLD }, randomScalar)
  const commitment = polynomial.map(multiplyBase)
  const dealt = new Map<number, readonly Point[]>([[index, commitment]])
  const forget = () => polynomial.forEach((coefficient) => coefficient.fill(0))
  return {
    own: {
      commitment: commitment.map(text),
      proof: text(prove(index, present(polynomial[0], 'a polynomial'), commitment)),
    },
    sharesFor(others) {
      for (const [from, received] of others) dealt.set(from, openPackage(from, received))
      if (dealt.size !== SIGNERS) throw new RangeError('Could not deal: not one package of each')
      return new Map([...others.keys()].map((to) => [to, evaluate(polynomial, to)]))
    },
    finish(shares) {
      const parts = [...dealt].map(([from, points]) => {
        if (from === index) return evaluate(polynomial, index)
        const part = toScalar(present(shares.get(from), 'a share of each'))
        if (!isSame(multiplyBase(part), pointAt(points, index)))
          throw new RangeError(`Could not take the share of signer ${from}: not as committed to`)
        return part
      })
      const share = { group: groupOf([...dealt.values()]), signingShare: text(parts.reduce(add)) }
      forget()
      return share
    },
    forget,
  }
}

/** Throws RangeError when the share is not the one of that signer in that group. */
export function checkShare(index: number, { group, signingShare }: KeyShare): void {
  const commitment = group.commitments.map(toPoint)
  const share = toScalar(decode(signingShare, SCALAR_BYTES))
  if (!isSame(multiplyBase(share), pointAt(commitment, index)))
    throw new RangeError(`Could not open the share of signer ${index}: it is of another key`)
}

/** What all five committed to, summed, and the public half of each one's share. */
function groupOf(dealt: readonly (readonly Point[])[]): GroupKey {
  const sums = Array.from({ length: THRESHOLD }, (_, degree) =>
    dealt.map((points) => present(points[degree], 'a coefficient')).reduce(addPoints),
  )
  const numbers = dealt.map((_, nth) => nth + 1)
  return {
    commitments: sums.map(text),
    // In order, so that the coordinator can compare what signers print as text.
    verifyingShares: Object.fromEntries(
      numbers.map((number) => [identifierOf(number), text(pointAt(sums, number))]),
    ),
  }
}

/** The polynomial at a signer's number. */
const evaluate = (polynomial: readonly Scalar[], index: number): Scalar =>
  polynomial.reduceRight((sum, coefficient) => add(multiply(sum, toId(index)), coefficient))

/** The same of what a dealer committed to: the public half of the share that it deals to the signer. */
const pointAt = (commitment: readonly Point[], index: number): Point =>
  commitment.reduceRight((sum, point) => addPoints(multiplyPoint(toId(index), sum), point))

/** A Schnorr proof of the first coefficient, bound to the prover: R ‖ k + a₀·c. */
function prove(index: number, coefficient: Scalar, [first]: readonly Point[]): Uint8Array {
  const nonce = randomScalar()
  const point = multiplyBase(nonce)
  const challenge = hashToScalar('dkg', toId(index), present(first, 'a commitment'), point)
  const proof = Buffer.concat([point, add(nonce, multiply(coefficient, challenge))])
  nonce.fill(0)
  return proof
}

function openPackage(from: number, { commitment, proof }: DkgPackage): readonly Point[] {
  const points = commitment.map(toPoint)
  const [first] = points
  if (first === undefined || points.length !== THRESHOLD)
    throw new RangeError(`Could not read the package of signer ${from}: ${points.length} points`)
  const bytes = decode(proof, SIGNATURE_BYTES)
  const point = toPoint(text(bytes.subarray(0, PUBLIC_KEY_BYTES)))
  const answer = toScalar(bytes.subarray(PUBLIC_KEY_BYTES))
  const challenge = hashToScalar('dkg', toId(from), first, point)
  if (!isSame(multiplyBase(answer), addPoints(point, multiplyPoint(challenge, first))))
    throw new RangeError(`Could not read the package of signer ${from}: it proves nothing`)
  return points
}

const isSame = (a: Point, b: Point): boolean => Buffer.compare(a, b) === 0
