import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ed25519_FROST as frost } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { checkShare, identifierOf, publicKeyOf, startDkg, type KeyShare } from './frost-key.ts'
import { SIGNERS, THRESHOLD, type DkgPackage } from './wire.ts'

// Each takes a second: all are ours, then half of them. Longer runs take any of the five.
const RUNS = process.env['ERGON_LONG'] === '1' ? 20 : 2
const text = (value: Uint8Array) => Buffer.from(value).toString('base64')
const fromText = (value: string) => Uint8Array.from(Buffer.from(value, 'base64'))
const NUMBERS = [1, 2, 3, 4, 5]
const numberOf = (identifier: string) => NUMBERS.find((one) => identifierOf(one) === identifier)!

/** Another implementation's signer, behind our interface. */
function startTheirs(index: number): ReturnType<typeof startDkg> {
  const { public: own, secret } = frost.DKG.round1(identifierOf(index), {
    min: THRESHOLD,
    max: SIGNERS,
  })
  let packages: (typeof own)[] = []
  return {
    own: { commitment: own.commitment.map(text), proof: text(own.proofOfKnowledge) },
    sharesFor(others) {
      packages = [...others].map(([from, { commitment, proof }]) => ({
        identifier: identifierOf(from),
        commitment: commitment.map(fromText),
        proofOfKnowledge: fromText(proof),
      }))
      const shares = Object.entries(frost.DKG.round2(secret, packages))
      return new Map(shares.map(([to, { signingShare }]) => [numberOf(to), signingShare]))
    },
    finish(shares) {
      const received = [...shares].map(([from, share]) => ({
        identifier: identifierOf(from),
        signingShare: Uint8Array.from(share),
      }))
      const key = frost.DKG.round3(secret, packages, received)
      const points = Object.entries(key.public.verifyingShares).map(
        ([id, point]) => [id, text(point)] as const,
      )
      return {
        group: {
          commitments: key.public.commitments.map(text),
          verifyingShares: Object.fromEntries(points.toSorted(([a], [b]) => (a < b ? -1 : 1))),
        },
        signingShare: text(key.secret.signingShare),
      }
    },
    forget: () => frost.DKG.clean(secret),
  }
}

type Meddle = {
  readonly package?: (from: number, sent: DkgPackage) => DkgPackage
  readonly share?: (from: number, to: number, sent: Uint8Array) => Uint8Array
}

function ceremony(ours: readonly number[], meddle: Meddle = {}): KeyShare[] {
  const runs = new Map(
    NUMBERS.map((one) => [one, ours.includes(one) ? startDkg(one) : startTheirs(one)]),
  )
  const sent = (from: number): DkgPackage =>
    meddle.package?.(from, runs.get(from)!.own) ?? runs.get(from)!.own
  const dealt = new Map(
    NUMBERS.map((from) => {
      const others = new Map(NUMBERS.filter((one) => one !== from).map((one) => [one, sent(one)]))
      return [from, runs.get(from)!.sharesFor(others)]
    }),
  )
  return NUMBERS.map((to) => {
    const shares = NUMBERS.filter((from) => from !== to).map((from) => {
      const share = dealt.get(from)!.get(to)!
      return [from, meddle.share?.(from, to, share) ?? share] as const
    })
    return runs.get(to)!.finish(new Map(shares))
  })
}

test('signers of this and of another implementation make one key together', () => {
  const made = new Set<string>()
  fc.assert(
    fc.property(fc.subarray(NUMBERS), (ours) => {
      const keys = ceremony(ours)
      made.add(keys[0]!.group.commitments[0]!)
      for (const { group } of keys) deepEqual(group, keys[0]!.group)
      equal(new Set(keys.map((key) => key.signingShare)).size, SIGNERS)
      for (const [nth, key] of keys.entries()) checkShare(nth + 1, key)
      // Any three shares are points of the polynomial whose first commitment is the key.
      const three = keys.slice(1, 1 + THRESHOLD).map(({ signingShare }, nth) => ({
        identifier: identifierOf(nth + 2),
        signingShare: fromText(signingShare),
      }))
      const secret = frost.combineSecret(three, { min: THRESHOLD, max: SIGNERS })
      const again = frost.trustedDealer({ min: THRESHOLD, max: SIGNERS }, undefined, secret)
      equal(text(again.public.commitments[0]!), publicKeyOf(keys[0]!.group).toString('base64'))
    }),
    { numRuns: RUNS, examples: [[NUMBERS], [[1, 3]]] },
  )
  equal(made.size, RUNS)
})

const altered = (bytes: Uint8Array, at: number) => bytes.with(at, bytes[at]! ^ 1)

test('packages that are malformed, or prove nothing, or are another’s, end the making', () => {
  const [first, second] = [startDkg(1).own, startDkg(2).own]
  const lies: readonly ((sent: DkgPackage) => DkgPackage)[] = [
    (sent) => ({ ...sent, commitment: sent.commitment.slice(1) }),
    (sent) => ({ ...sent, commitment: [...sent.commitment, sent.commitment[0]!] }),
    (sent) => ({ ...sent, commitment: sent.commitment.with(2, text(new Uint8Array(32))) }),
    (sent) => ({ ...sent, commitment: sent.commitment.with(0, first.commitment[0]!) }),
    (sent) => ({ ...sent, proof: second.proof }),
    (sent) => ({ ...sent, proof: text(altered(fromText(sent.proof), 40)) }),
    (sent) => ({ ...sent, proof: sent.proof.slice(4) }),
    () => second,
  ]
  for (const lie of lies)
    throws(
      () => ceremony(NUMBERS, { package: (from, sent) => (from === 3 ? lie(sent) : sent) }),
      RangeError,
    )
})

test('a share that is not as committed to is refused by who gets it', () => {
  for (const lie of [
    (share: Uint8Array) => altered(share, 0),
    () => new Uint8Array(32).fill(255),
    (share: Uint8Array) => share.subarray(1),
  ])
    throws(
      () =>
        ceremony(NUMBERS, {
          share: (from, to, share) => (from === 2 && to === 4 ? lie(share) : share),
        }),
      RangeError,
    )
})

const packagesOf = (runs: readonly ReturnType<typeof startDkg>[], ...numbers: number[]) =>
  new Map(numbers.map((number) => [number, runs[number - 1]!.own]))

test('a key is made of one package of each other signer, or not at all', () => {
  const runs = NUMBERS.map((one) => startDkg(one))
  const [first] = runs
  throws(() => first!.finish(new Map()), /nothing was dealt/)
  for (const numbers of [[], [2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5]])
    throws(() => first!.sharesFor(packagesOf(runs, ...numbers)), RangeError)
  const six = new Map([...packagesOf(runs, 2, 3, 4), [6, runs[4]!.own]])
  throws(() => first!.sharesFor(six), RangeError)
  // The failed attempt has left nothing behind.
  throws(() => first!.finish(new Map()), /nothing was dealt/)
})

test('a polynomial that was forgotten makes neither shares nor a key', () => {
  const runs = NUMBERS.map((one) => startDkg(one))
  const others = (one: number) => packagesOf(runs, ...NUMBERS.filter((number) => number !== one))
  const dealt = new Map(runs.map((run, nth) => [nth + 1, run.sharesFor(others(nth + 1))]))
  const shares = new Map([2, 3, 4, 5].map((from) => [from, dealt.get(from)!.get(1)!]))
  runs[0]!.finish(shares)
  throws(() => runs[0]!.finish(shares), /forgotten/)
  runs[1]!.forget()
  throws(() => runs[1]!.sharesFor(others(2)), /forgotten/)
})
