import { deepEqual, equal, notDeepEqual, ok, throws } from 'node:assert/strict'
import { verify } from 'node:crypto'
import { test } from 'node:test'
import { ed25519_FROST as frost } from '@noble/curves/ed25519.js'
import { publicKeyObject } from '#tlog/checkpoint.ts'
import { envelopeKey, newExchangeKey, openEnvelope, sealEnvelope } from './envelope.ts'
import { openShare } from './frost.ts'
import { createNonces } from './nonces.ts'
import { NONCES_MAX, SIGNERS, THRESHOLD } from './wire.ts'

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')

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

test('the library reproduces the Ed25519 vectors of RFC 9591 and its result is plain Ed25519', () => {
  const { Fn } = frost.utils
  const at = (index: bigint) =>
    Fn.toBytes(Fn.add(Fn.fromBytes(bytes(SECRET)), Fn.mul(Fn.fromBytes(bytes(COEFFICIENT)), index)))
  equal(hex(at(1n)), P1.share)
  equal(hex(at(3n)), P3.share)
  const dealt = frost.trustedDealer({ min: 2, max: 3 }, undefined, bytes(SECRET))
  equal(hex(dealt.public.commitments[0]!), PUBLIC)
  const rounds = [P1, P3].map((signer) => {
    const identifier = frost.Identifier.fromNumber(signer.index)
    const secret = { identifier, signingShare: bytes(signer.share) }
    const random = signer.random.map(bytes)
    const { nonces, commitments } = frost.commit(secret, () => random.shift()!)
    deepEqual([nonces.hiding, nonces.binding].map(hex), signer.nonces)
    deepEqual([commitments.hiding, commitments.binding].map(hex), signer.commitments)
    return { signer, secret, nonces, commitments }
  })
  const list = rounds.map(({ commitments }) => commitments)
  const shares = rounds.map(({ secret, nonces, signer }) => {
    const share = frost.signShare(secret, dealt.public, nonces, list, bytes(MESSAGE))
    equal(hex(share), signer.signature)
    return [secret.identifier, share]
  })
  const signature = frost.aggregate(dealt.public, list, bytes(MESSAGE), Object.fromEntries(shares))
  equal(hex(signature), SIGNATURE)
  ok(verify(null, bytes(MESSAGE), publicKeyObject(bytes(PUBLIC)), signature))
})

function dealtShare() {
  const dealt = frost.trustedDealer({ min: THRESHOLD, max: SIGNERS })
  const text = (value: Uint8Array) => Buffer.from(value).toString('base64')
  const group = {
    commitments: dealt.public.commitments.map(text),
    verifyingShares: Object.fromEntries(
      Object.entries(dealt.public.verifyingShares).map(([id, point]) => [id, text(point)]),
    ),
  }
  const secret = dealt.secretShares[frost.Identifier.fromNumber(2)]!
  return { group, signingShare: text(secret.signingShare) }
}

test('openShare() refuses a share of another signer or another group', () => {
  const share = dealtShare()
  openShare(2, share)
  throws(() => openShare(3, share))
  throws(() => openShare(2, { ...share, group: dealtShare().group }))
})

test('a nonce is taken once, forgotten when too many are made, and unknown to another life', () => {
  const share = openShare(2, dealtShare())
  const nonces = createNonces(share)
  const [first, second] = nonces.make(2)
  notDeepEqual(first!.commitment, second!.commitment)
  nonces.take(first!.id)
  throws(() => nonces.take(first!.id), { code: 'unknown_nonce' })
  nonces.make(NONCES_MAX)
  throws(() => nonces.take(second!.id), { code: 'unknown_nonce' })
  const [third] = nonces.make(1)
  throws(() => createNonces(share).take(third!.id), { code: 'unknown_nonce' })
  for (const count of [0, -1, 1.5, NONCES_MAX + 1])
    throws(() => nonces.make(count), { code: 'malformed' })
})

test('an envelope opens on its own route only, and not when altered', () => {
  const [alice, bob, eve] = [newExchangeKey(), newExchangeKey(), newExchangeKey()]
  const route = { from: 1, to: 2, transcript: Buffer.alloc(32, 1) }
  const sealed = sealEnvelope(
    Buffer.from('share'),
    envelopeKey(alice.privateKey, bob.publicKey, route),
  )
  const open = (key: Buffer, envelope = sealed) => openEnvelope(envelope, key).toString()
  equal(open(envelopeKey(bob.privateKey, alice.publicKey, route)), 'share')
  throws(() => open(envelopeKey(bob.privateKey, alice.publicKey, { ...route, to: 3 })))
  throws(() =>
    open(envelopeKey(bob.privateKey, alice.publicKey, { ...route, transcript: Buffer.alloc(32) })),
  )
  throws(() => open(envelopeKey(eve.privateKey, alice.publicKey, route)))
  const altered = Buffer.from(sealed)
  altered[14]! ^= 1
  throws(() => open(envelopeKey(bob.privateKey, alice.publicKey, route), altered))
})
