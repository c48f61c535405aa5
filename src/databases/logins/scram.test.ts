import assert from 'node:assert/strict'
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  createScramServer,
  decoyVerifier,
  makeVerifier,
  parseVerifier,
  SCRAM,
  SCRAM_PLUS,
  verifierText,
  type ScramServer,
} from './scram.ts'

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

test('the verifier gives the server signature of RFC 7677, section 3', async () => {
  const { serverKey } = await makeVerifier(
    'pencil',
    Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'),
  )
  const nonce = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0'
  const exchanged = [
    'n=user,r=rOprNGfwEbeRWgbNEkqO',
    `r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`,
    `c=biws,r=${nonce}`,
  ].join()
  assert.equal(
    hmac(serverKey.export(), exchanged).toString('base64'),
    '6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  )
})

/** A client that knows the password; `change` spoils its last message. */
function logIn(
  server: ScramServer,
  given: { password: string; flag?: string; channel?: Buffer; mechanism?: string },
  change = (text: string) => text,
): boolean {
  const { password, flag = 'n', channel = Buffer.alloc(0), mechanism = SCRAM } = given
  const bare = `n=,r=${randomBytes(9).toString('base64')}`
  const first = server.first(mechanism, `${flag},,${bare}`)
  const [, nonce = '', salt = '', iterations] = /^r=(.*),s=(.*),i=(\d+)$/.exec(first) ?? []
  const stretched = pbkdf2Sync(
    password,
    Buffer.from(salt, 'base64'),
    Number(iterations),
    32,
    'sha256',
  )
  const clientKey = hmac(stretched, 'Client Key')
  const bound = Buffer.concat([Buffer.from(`${flag},,`), channel]).toString('base64')
  const unproven = `c=${bound},r=${nonce}`
  const all = `${bare},${first},${unproven}`
  const signature = hmac(createHash('sha256').update(clientKey).digest(), all)
  const proof = Buffer.from(clientKey.map((byte, place) => byte ^ (signature[place] ?? 0)))
  const last = server.last(change(`${unproven},p=${proof.toString('base64')}`))
  return last === `v=${hmac(hmac(stretched, 'Server Key'), all).toString('base64')}`
}

const wrong = { isWrongPassword: true }
const broken = { isWrongPassword: false }

test('a login succeeds with the password alone, and the server proves itself', async () => {
  const verifier = parseVerifier(verifierText(await makeVerifier('secret')))
  assert.ok(logIn(createScramServer(verifier, undefined), { password: 'secret' }))
  const server = () => createScramServer(verifier, undefined)
  assert.throws(() => logIn(server(), { password: 'Secret' }), wrong)
  assert.throws(() => logIn(server(), { password: '' }), wrong)
  const decoy = decoyVerifier(randomBytes(32), 'nobody')
  assert.throws(() => logIn(createScramServer(decoy, undefined), { password: '' }), wrong)
})

test('channel binding holds a login to the certificate, and its offer cannot be removed', async () => {
  const verifier = await makeVerifier('secret')
  const channel = randomBytes(32)
  const bound = { password: 'secret', flag: 'p=tls-server-end-point', mechanism: SCRAM_PLUS }
  const server = () => createScramServer(verifier, channel)
  assert.ok(logIn(server(), { ...bound, channel }))
  assert.ok(logIn(server(), { password: 'secret' }))
  for (const bad of [
    { ...bound, channel: randomBytes(32) },
    { ...bound, channel, flag: 'p=tls-unique' },
    { ...bound, channel, mechanism: SCRAM },
    { password: 'secret', flag: 'y' },
    { password: 'secret', flag: 'n', mechanism: SCRAM_PLUS },
  ])
    assert.throws(() => logIn(server(), bad), broken, JSON.stringify(bad))
  assert.throws(() => logIn(createScramServer(verifier, undefined), { ...bound, channel }), broken)
})

test('messages that are none of SCRAM are refused', async () => {
  const verifier = await makeVerifier('secret')
  const server = () => createScramServer(verifier, undefined)
  for (const text of [
    '',
    'n,,',
    'n,,r=a',
    'n,a=x,n=,r=a',
    'm=1,n,,n=,r=a',
    'n,,n=,r=',
    'n,,n=,r=a,b',
  ])
    assert.throws(() => server().first(SCRAM, text), broken, text)
  const spoil = (change: (text: string) => string) => () =>
    logIn(server(), { password: 'secret' }, change)
  assert.throws(
    spoil((text) => text.replace(/r=.*,p/, 'r=other,p')),
    broken,
  )
  assert.throws(
    spoil((text) => text.replace(/p=.*/, 'p=AAAA')),
    broken,
  )
  assert.throws(
    spoil((text) => text.replace(/,p=.*/, '')),
    broken,
  )
  assert.throws(() => server().last('c=biws,r=,p=AAAA'), broken)
})
