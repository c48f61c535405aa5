import { equal, notDeepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ed25519_FROST as frost } from '@noble/curves/ed25519.js'
import { envelopeKey, newExchangeKey, openEnvelope, sealEnvelope } from './envelope.ts'
import { openShare } from './frost-signing.ts'
import { createNonces } from './nonces.ts'
import { NONCES_MAX, SIGNERS, THRESHOLD } from './wire.ts'

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
