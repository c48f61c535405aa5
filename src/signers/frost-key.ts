// Generation of the key that three of five share: Pedersen's distributed key generation as in FROST (Komlo and
// Goldberg 2020, figure 1). Each signer deals a polynomial, commits to its coefficients (Feldman) and proves
// that it knows the first. No process ever holds the whole key.
import { present } from '#base/errors.ts'
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '#tlog/checkpoint.ts'
import {
  addScalars,
  addPoints,
  decode,
  hashToScalar,
  isSamePoint,
  multiply,
  multiplyBase,
  multiplyPoint,
  randomScalar,
  readPoint,
  SCALAR_BYTES,
  base64Of,
  toId,
  toPoint,
  toScalar,
  type Point,
  type Scalar,
} from './frost-group.ts'
import { SIGNERS, THRESHOLD, type DkgPackage, type GroupKey } from './wire.ts'

/** A signer's own part; `signingShare` is the secret, base64. */
export type KeyShare = { readonly group: GroupKey; readonly signingShare: string }

/** The name of a signer in a group key: its number as a scalar, in hex. */
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
   * The key, from the shares that the others made for this signer. Throws RangeError when one contradicts the
   * commitment of its sender, or before sharesFor() has taken a package of each.
   */
  finish(shares: ReadonlyMap<number, Uint8Array>): KeyShare
  /** Forgets the secret polynomial: the other methods throw RangeError then. */
  forget(): void
}

export function startDkg(index: number): DkgRun {
  const polynomial = Array.from({ length: THRESHOLD }, randomScalar)
  const commitment = polynomial.map(multiplyBase)
  let dealt = new Map<number, readonly Point[]>()
  let isForgotten = false
  const forget = () => {
    isForgotten = true
    for (const coefficient of polynomial) coefficient.fill(0)
  }
  const shareFor = (to: number): Scalar => {
    if (isForgotten) throw new RangeError('Could not deal: the polynomial is forgotten')
    return evaluate(polynomial, to)
  }
  return {
    own: {
      commitment: commitment.map(base64Of),
      proof: base64Of(prove(index, present(polynomial[0], 'a polynomial'), commitment)),
    },
    sharesFor(others) {
      const opened = [...others].map(([from, sent]) => [from, openPackage(from, sent)] as const)
      const all = new Map<number, readonly Point[]>([...opened, [index, commitment]])
      if (others.size !== SIGNERS - 1 || all.size !== SIGNERS)
        throw new RangeError('Could not deal: not one package of each other signer')
      dealt = all
      return new Map([...others.keys()].map((to) => [to, shareFor(to)]))
    },
    finish(shares) {
      if (dealt.size !== SIGNERS) throw new RangeError('Could not finish: nothing was dealt yet')
      const parts = [...dealt].map(([from, points]) => {
        if (from === index) return shareFor(index)
        const part = toScalar(shares.get(from) ?? new Uint8Array())
        if (!isSamePoint(multiplyBase(part), pointAt(points, index)))
          throw new RangeError(`Could not take the share of signer ${from}: not as committed to`)
        return part
      })
      const share = {
        group: groupOf([...dealt.values()]),
        signingShare: base64Of(parts.reduce(addScalars)),
      }
      checkShare(index, share)
      forget()
      return share
    },
    forget,
  }
}

/** Throws RangeError when the share is not the one of that signer in that group. */
export function checkShare(index: number, { group, signingShare }: KeyShare): void {
  const commitment = group.commitments.map(readPoint)
  const share = toScalar(decode(signingShare, SCALAR_BYTES))
  if (!isSamePoint(multiplyBase(share), pointAt(commitment, index)))
    throw new RangeError(`Could not open the share of signer ${index}: it is of another key`)
}

/** The sum of the commitments of all five, and the public half of each share. */
function groupOf(dealt: readonly (readonly Point[])[]): GroupKey {
  const sums = Array.from({ length: THRESHOLD }, (_, degree) =>
    dealt.map((points) => present(points[degree], 'a coefficient')).reduce(addPoints),
  )
  const numbers = Array.from({ length: SIGNERS }, (_, nth) => nth + 1)
  return {
    commitments: sums.map(base64Of),
    // In order, so that the coordinator can compare what signers print as text.
    verifyingShares: Object.fromEntries(
      numbers.map((number) => [identifierOf(number), base64Of(pointAt(sums, number))]),
    ),
  }
}

/** The polynomial at a signer's number. */
const evaluate = (polynomial: readonly Scalar[], index: number): Scalar =>
  polynomial.reduceRight((sum, coefficient) => addScalars(multiply(sum, toId(index)), coefficient))

/** The same for the commitment of a dealer: the public half of the share that it deals to the signer. */
const pointAt = (commitment: readonly Point[], index: number): Point =>
  commitment.reduceRight((sum, point) => addPoints(multiplyPoint(toId(index), sum), point))

/** A Schnorr proof of the first coefficient, bound to the prover: R ‖ k + a₀·c. */
function prove(index: number, coefficient: Scalar, [first]: readonly Point[]): Uint8Array {
  const nonce = randomScalar()
  const point = multiplyBase(nonce)
  const challenge = hashToScalar('dkg', toId(index), present(first, 'a commitment'), point)
  const proof = Buffer.concat([point, addScalars(nonce, multiply(coefficient, challenge))])
  nonce.fill(0)
  return proof
}

function openPackage(from: number, { commitment, proof }: DkgPackage): readonly Point[] {
  const points = commitment.map(readPoint)
  const [first] = points
  if (first === undefined || points.length !== THRESHOLD)
    throw new RangeError(`Could not read the package of signer ${from}: ${points.length} points`)
  const bytes = decode(proof, SIGNATURE_BYTES)
  const point = toPoint(bytes.subarray(0, PUBLIC_KEY_BYTES))
  const answer = toScalar(bytes.subarray(PUBLIC_KEY_BYTES))
  const challenge = hashToScalar('dkg', toId(from), first, point)
  if (!isSamePoint(multiplyBase(answer), addPoints(point, multiplyPoint(challenge, first))))
    throw new RangeError(`Could not read the package of signer ${from}: it proves nothing`)
  return points
}
