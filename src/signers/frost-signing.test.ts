import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { randomBytes, verify } from 'node:crypto'
import { test } from 'node:test'
import { ed25519_FROST as frost, ed25519 } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { publicKeyObject } from '#tlog/checkpoint.ts'
import { aggregate, openShare, type ShareHolder } from './frost-signing.ts'
import { identifierOf, publicKeyOf, type KeyShare } from './frost-key.ts'
import { SIGNERS, THRESHOLD } from './wire.ts'

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')
const text = (value: Uint8Array) => Buffer.from(value).toString('base64')
const fromText = (value: string) => Uint8Array.from(Buffer.from(value, 'base64'))

// RFC 9591 appendix E.1: FROST(Ed25519, SHA-512), 2 of 3, signers 1 and 3.
const SECRET = '7b1c33d3f5291d85de664833beb1ad469f7fb6025a0ec78b3a790c6e13a98304'
const COEFFICIENT = '178199860edd8c62f5212ee91eff1295d0d670ab4ed4506866bae57e7030b204'
const PUBLIC = '15d21ccd7ee42959562fc8aa63224c8851fb3ec85a3faf66040d380fb9738673'
const MESSAGE = '74657374'
const P1 = {
  index: 1,
  share: '929dcc590407aae7d388761cddb0c0db6f5627aea8e217f4a033f2ec83d93509',
  random: [
    '0fd2e39e111cdc266f6c0f4d0fd45c947761f1f5d3cb583dfcb9bbaf8d4c9fec',
    '69cd85f631d5f7f2721ed5e40519b1366f340a87c2f6856363dbdcda348a7501',
  ],
  nonces: [
    '812d6104142944d5a55924de6d49940956206909f2acaeedecda2b726e630407',
    'b1110165fc2334149750b28dd813a39244f315cff14d4e89e6142f262ed83301',
  ],
  commitments: [
    'b5aa8ab305882a6fc69cbee9327e5a45e54c08af61ae77cb8207be3d2ce13de3',
    '67e98ab55aa310c3120418e5050c9cf76cf387cb20ac9e4b6fdb6f82a469f932',
  ],
  signature: '001719ab5a53ee1a12095cd088fd149702c0720ce5fd2f29dbecf24b7281b603',
}
const P3 = {
  index: 3,
  share: 'd3cb090a075eb154e82fdb4b3cb507f110040905468bb9c46da8bdea643a9a02',
  random: [
    '86d64a260059e495d0fb4fcc17ea3da7452391baa494d4b00321098ed2a0062f',
    '13e6b25afb2eba51716a9a7d44130c0dbae0004a9ef8d7b5550c8a0e07c61775',
  ],
  nonces: [
    'c256de65476204095ebdc01bd11dc10e57b36bc96284595b8215222374f99c0e',
    '243d71944d929063bc51205714ae3c2218bd3451d0214dfb5aeec2a90c35180d',
  ],
  commitments: [
    'cfbdb165bd8aad6eb79deb8d287bcc0ab6658ae57fdcc98ed12c0669e90aec91',
    '7487bc41a6e712eea2f2af24681b58b1cf1da278ea11fe4e8b78398965f13552',
  ],
  signature: 'bd86125de990acc5e1f13781d8e32c03a9bbd4c53539bbc106058bfd14326007',
}
const SIGNATURE =
  '36282629c383bb820a88b71cae937d41f2f2adfcc3d02e55507e2fb9e2dd3cbe' +
  'bd9d2b0844e49ae0f3fa935161e1419aab7b47d21a37ebeae1f17d4987b3160b'

/** A key that one dealer made: what every signer opens. */
function deal(min: number, max: number, secret?: Uint8Array<ArrayBuffer>) {
  const dealt = frost.trustedDealer({ min, max }, undefined, secret)
  const group = {
    commitments: dealt.public.commitments.map(text),
    verifyingShares: Object.fromEntries(
      Object.entries(dealt.public.verifyingShares).map(([id, point]) => [id, text(point)]),
    ),
  }
  const shareOf = (index: number): KeyShare => ({
    group,
    signingShare: text(dealt.secretShares[identifierOf(index)]!.signingShare),
  })
  return { group, public: dealt.public, shareOf }
}

test('signing reproduces the Ed25519 vectors of RFC 9591 and its result is plain Ed25519', () => {
  const { Fn } = frost.utils
  const at = (index: bigint) =>
    Fn.toBytes(Fn.add(Fn.fromBytes(bytes(SECRET)), Fn.mul(Fn.fromBytes(bytes(COEFFICIENT)), index)))
  const { BASE } = ed25519.Point
  const pointOf = (scalar: Uint8Array) => text(BASE.multiply(Fn.fromBytes(scalar)).toBytes())
  const group = {
    commitments: [SECRET, COEFFICIENT].map((scalar) => pointOf(bytes(scalar))),
    verifyingShares: Object.fromEntries(
      [1, 2, 3].map((index) => [identifierOf(index), pointOf(at(BigInt(index)))]),
    ),
  }
  equal(publicKeyOf(group).toString('hex'), PUBLIC)
  const rounds = [P1, P3].map((vector) => {
    equal(hex(at(BigInt(vector.index))), vector.share)
    const random = vector.random.map((one) => Buffer.from(one, 'hex'))
    const share = { group, signingShare: text(bytes(vector.share)) }
    const holder = openShare(vector.index, share, () => random.shift()!)
    const { nonces, commitment } = holder.commit()
    deepEqual([nonces.hiding, nonces.binding].map(hex), vector.nonces)
    deepEqual(
      [commitment.hiding, commitment.binding].map((one) => hex(fromText(one))),
      vector.commitments,
    )
    return { vector, holder, nonces, commitment }
  })
  const list = rounds.map(({ commitment }) => commitment)
  const shares = rounds.map(({ vector, holder, nonces }) => {
    const share = holder.sign(bytes(MESSAGE), nonces, list)
    equal(hex(fromText(share)), vector.signature)
    return [vector.index, share] as const
  })
  const { signature } = aggregate(group, bytes(MESSAGE), list, new Map(shares))
  equal(signature?.toString('hex'), SIGNATURE)
  ok(verify(null, bytes(MESSAGE), publicKeyObject(bytes(PUBLIC)), signature!))
})

/** Nonces of each of them, and their shares of a signature. */
function run(holders: ReadonlyMap<number, ShareHolder>, message: Uint8Array) {
  const made = [...holders].map(([index, holder]) => ({ index, holder, ...holder.commit() }))
  const list = made.map(({ commitment }) => commitment)
  const nonces = made.map((one) => ({
    hiding: Uint8Array.from(one.nonces.hiding),
    binding: Uint8Array.from(one.nonces.binding),
  }))
  const shares = new Map(made.map((one) => [one.index, one.holder.sign(message, one.nonces, list)]))
  return { made, list, nonces, shares }
}

const key = deal(THRESHOLD, SIGNERS)
const subset = fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: THRESHOLD, maxLength: SIGNERS })
const holders = [1, 2, 3, 4, 5].map((index) => openShare(index, key.shareOf(index)))
const holdersOf = (indices: readonly number[]) =>
  new Map(indices.map((index) => [index, holders[index - 1]!]))

test('any three to five give the shares and the signature of the reference library', () => {
  fc.assert(
    fc.property(subset, fc.uint8Array({ maxLength: 300 }), (indices, message) => {
      const { made, list, nonces, shares } = run(holdersOf(indices), message)
      const theirs = list.map((one) => ({
        identifier: identifierOf(one.index),
        hiding: fromText(one.hiding),
        binding: fromText(one.binding),
      }))
      for (const [nth, { index }] of made.entries()) {
        const secret = {
          identifier: identifierOf(index),
          signingShare: fromText(key.shareOf(index).signingShare),
        }
        const expected = frost.signShare(secret, key.public, nonces[nth]!, theirs, message)
        equal(shares.get(index), text(expected))
      }
      const { signature } = aggregate(key.group, message, list, shares)
      ok(verify(null, message, publicKeyObject(publicKeyOf(key.group)), signature!))
    }),
    { numRuns: 10 },
  )
})

test('aggregate() names everyone who gave a wrong share, and nobody else', () => {
  fc.assert(
    fc.property(subset, fc.uint8Array({ minLength: 5, maxLength: 5 }), (indices, flips) => {
      const message = randomBytes(40)
      const { list, shares } = run(holdersOf(indices), message)
      const liars = indices.filter((_, nth) => flips[nth]! % 3 === 0)
      for (const [nth, liar] of liars.entries()) {
        const share = fromText(shares.get(liar)!)
        // Too short, beyond the order, another number below it, or none.
        const lies = [
          share.subarray(1),
          new Uint8Array(32).fill(255),
          share.with(0, share[0]! ^ 1),
          new Uint8Array(32),
        ]
        shares.set(liar, text(lies[(nth + flips[0]!) % 4]!))
      }
      const { cheaters = [] } = aggregate(key.group, message, list, shares)
      const isNoScalar = (index: number) =>
        fromText(shares.get(index)!).length !== 32 || fromText(shares.get(index)!)[31] === 255
      // Shares that are no scalars are named first; the others can only be checked without them.
      const expected = liars.some(isNoScalar) ? liars.filter(isNoScalar) : liars
      deepEqual(cheaters.toSorted(), expected.toSorted())
    }),
    { numRuns: 30 },
  )
})

test('nonces sign once, only what commits to them, and never with too few, too many or one twice', () => {
  const message = Buffer.from('head')
  const round = () => {
    const made = [...holdersOf([1, 2, 3])].map(([index, holder]) => ({
      index,
      holder,
      ...holder.commit(),
    }))
    return { ...made[0]!, list: made.map(({ commitment }) => commitment) }
  }
  type Round = ReturnType<typeof round>
  const lists: readonly ((of: Round) => Round['list'])[] = [
    ({ holder, list }) => [holder.commit().commitment, ...list.slice(1)],
    ({ list }) => list.slice(1),
    ({ list }) => list.slice(0, 2),
    ({ list }) => [...list, list[1]!],
    ({ list }) => [...list, ...[4, 5, 6].map((index) => ({ ...list[1]!, index }))],
    ({ list }) => list.with(2, { ...list[2]!, index: 6 }),
  ]
  for (const listOf of lists) {
    const one = round()
    throws(() => one.holder.sign(message, one.nonces, listOf(one)), RangeError)
  }
  const { holder, nonces, list } = round()
  holder.sign(message, nonces, list)
  deepEqual([nonces.hiding, nonces.binding].map(hex), ['00'.repeat(32), '00'.repeat(32)])
  throws(() => holder.sign(message, nonces, list), /were used/)
})

test('points that are not of the prime-order group are refused', () => {
  const { Point } = ed25519
  const torsion = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa')
  const bad = [
    ...[0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n].map((times) => torsion.multiplyUnsafe(times).toBytes()),
    ...[1n, 2n, 3n, 4n, 5n, 6n, 7n].map((times) =>
      Point.BASE.add(torsion.multiplyUnsafe(times)).toBytes(),
    ),
    new Uint8Array(32).fill(2),
    new Uint8Array(32).fill(255),
    new Uint8Array(31),
  ]
  for (const point of bad) {
    const made = [...holdersOf([1, 2, 3])].map(([index, holder]) => ({
      index,
      holder,
      ...holder.commit(),
    }))
    const { holder, nonces } = made[0]!
    const list = made.map(({ commitment }, nth) =>
      nth === 1 ? { ...commitment, binding: text(point) } : commitment,
    )
    throws(() => holder.sign(Buffer.from('head'), nonces, list), RangeError)
    throws(() => aggregate(key.group, Buffer.from('head'), list, new Map()), RangeError)
  }
})

test('openShare() refuses a share of another signer or another group', () => {
  const share = key.shareOf(2)
  openShare(2, share)
  throws(() => openShare(3, share))
  throws(() => openShare(2, { ...share, group: deal(THRESHOLD, SIGNERS).group }))
})
