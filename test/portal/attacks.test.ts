// Attacks on the portal: other origins, hosts and ports, forged and repeated answers of passkeys, stolen and planted cookies,
// forms of other pages, guessed codes. None succeeds, and each refusal has its code.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newClient, signInSoftly, signUpSoftly, type PortalClient, type Sent } from './client.ts'
import { newSoftPasskey, type Wrong } from './soft-authenticator.ts'

product(PLAIN)

const codeOf = ({ status, body }: Awaited<ReturnType<PortalClient['ask']>>) => [
  status,
  body.error?.code,
]

describe('the portal under attack', () => {
  let ada: PortalClient
  let account = ''
  before(async () => {
    ada = newClient(sharedErgon())
    account = (await signUpSoftly(ada, { name: 'attacked' })).account_id
  })

  /** The session cookie alone, as a thief would have it. */
  const stolen = () => `ergon_session=${ada.cookies.get('ergon_session')}`

  test('a change is refused from every other origin, port and scheme, and without one', async () => {
    const { port } = sharedErgon()
    for (const origin of [
      null,
      'null',
      'https://evil.example',
      `http://portal.localhost:${port}`,
      `http://localhost:${port + 1}`,
      `https://portal.localhost:${port + 1}`,
      `http://portal.localhost:${port + 1}.evil.example`,
    ]) {
      const answer = await ada.ask('POST', '/v1/tokens', { name: 'x', scope: 'read' }, { origin })
      assert.deepEqual(codeOf(answer), [403, 'origin_refused'], String(origin))
    }
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { 'sec-fetch-site': site }
      const answer = await ada.ask('DELETE', '/v1/session', undefined, { headers })
      assert.deepEqual(codeOf(answer), [403, 'origin_refused'])
    }
    await ada.must(200, 'GET', '/v1/session')
  })

  test('a form of another page changes nothing, not even as text/plain', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
      const sent: Sent = {
        origin: 'https://evil.example',
        text: '{"name":"x","scope":"billing-admin"}',
        headers: { 'content-type': type, 'sec-fetch-site': 'cross-site' },
      }
      assert.deepEqual(codeOf(await ada.ask('POST', '/v1/tokens', undefined, sent)), [
        403,
        'origin_refused',
      ])
    }
    const own: Sent = {
      text: '{"name":"x","scope":"read"}',
      headers: { 'content-type': 'text/plain' },
    }
    assert.deepEqual(codeOf(await ada.ask('POST', '/v1/tokens', undefined, own)), [
      415,
      'unsupported_media_type',
    ])
  })

  test('a session is no credential at the API, at storage or on another host', async () => {
    const { port } = sharedErgon()
    const text = ada.cookies.get('ergon_session') ?? ''
    const api = { port, host: `localhost:${port}`, cookie: stolen() }
    assert.deepEqual(codeOf(await ada.ask('GET', '/v1/balance', undefined, api)), [
      401,
      'token_missing',
    ])
    const bearer = { ...api, headers: { authorization: `Bearer ${text}` } }
    assert.deepEqual(codeOf(await ada.ask('GET', '/v1/balance', undefined, bearer)), [
      401,
      'token_unknown',
    ])
    for (const host of [`evil.example:${port + 1}`, `x.portal.localhost:${port + 1}`, 'portal'])
      assert.deepEqual(codeOf(await ada.ask('GET', '/v1/balance', undefined, { host })), [
        421,
        'host_unknown',
      ])
    assert.deepEqual(codeOf(await ada.ask('GET', '/v1/session', undefined, api)), [
      421,
      'portal_only',
    ])
  })

  test('the portal takes no token, alone or beside a session', async () => {
    const { token } = sharedErgon()
    const headers = { authorization: `Bearer ${token}` }
    for (const cookie of [stolen(), ''])
      assert.deepEqual(
        codeOf(await ada.ask('GET', '/v1/balance', undefined, { headers, cookie })),
        [400, 'malformed_request'],
      )
  })

  test('a planted cookie beside the own one, or a made-up one, signs nobody in', async () => {
    const twice = `ergon_session=ses_${'a'.repeat(43)}; ${stolen()}`
    assert.deepEqual(codeOf(await ada.ask('GET', '/v1/session', undefined, { cookie: twice })), [
      401,
      'session_missing',
    ])
    for (const text of [`ses_${'a'.repeat(43)}`, 'ses_', sharedErgon().token, '../..'])
      assert.deepEqual(
        codeOf(await ada.ask('GET', '/v1/session', undefined, { cookie: `ergon_session=${text}` })),
        [401, 'session_ended'],
      )
  })

  test('nobody plants a session: signing in gives another text than the one that came', async () => {
    const mallory = newClient(sharedErgon())
    await signUpSoftly(mallory, { name: 'mallory' })
    const planted = mallory.cookies.get('ergon_session') ?? ''
    ada.cookies.set('ergon_session', planted)
    const session = await signInSoftly(ada)
    assert.equal(session['account_id'], account)
    assert.notEqual(ada.cookies.get('ergon_session'), planted)
  })

  test('a forged answer of a passkey opens no session', async () => {
    const forged: Record<string, Wrong> = {
      'of another origin': { origin: 'https://evil.example' },
      'of another port': { origin: `http://portal.localhost:${sharedErgon().port}` },
      'for another host': { rpId: 'localhost' },
      'without user verification': { isUnverified: true },
      'inside of a page of another origin': { crossOrigin: true },
      'of another ceremony': { type: 'webauthn.create' },
      'of another member': { userHandle: Buffer.from('mem_other').toString('base64url') },
      'of a copied authenticator': { counter: 1 },
    }
    for (const [what, wrong] of Object.entries(forged)) {
      const options = await ada.must(200, 'POST', '/v1/sign-in/options')
      const response = ada.passkey.get(options as never, wrong)
      const answer = await ada.ask('POST', '/v1/sign-in', { response })
      assert.deepEqual(codeOf(answer), [403, 'passkey_refused'], what)
      // The challenge is used up by the attempt.
      const honest = ada.passkey.get(options as never)
      assert.deepEqual(codeOf(await ada.ask('POST', '/v1/sign-in', { response: honest })), [
        409,
        'challenge_ended',
      ])
    }
    await signInSoftly(ada)
  })

  test('an answer to another challenge opens no session', async () => {
    const mallory = newClient(sharedErgon())
    const theirs = await mallory.must(200, 'POST', '/v1/sign-in/options')
    const own = await ada.must(200, 'POST', '/v1/session/touch/options')
    const options = await ada.must(200, 'POST', '/v1/sign-in/options')
    for (const challenge of [
      'AAAA',
      '\0',
      String((theirs as { challenge?: string }).challenge),
      // A challenge of this browser, for something else.
      String((own as { challenge?: string }).challenge),
    ]) {
      const response = ada.passkey.get(options as never, { challenge })
      const answer = await ada.ask('POST', '/v1/sign-in', { response })
      assert.deepEqual(codeOf(answer), [409, 'challenge_ended'], challenge)
    }
    const { response } = ada.passkey.get(options as never) as { response: object }
    const broken = {
      ...ada.passkey.get(options as never),
      response: { ...response, clientDataJSON: Buffer.from('no JSON').toString('base64url') },
    }
    assert.deepEqual(codeOf(await ada.ask('POST', '/v1/sign-in', { response: broken })), [
      409,
      'challenge_ended',
    ])
  })

  test('a forged registration makes no account', async () => {
    const count = async () =>
      (await sharedErgon().sql('select count(*) as n from accounts'))[0]?.['n']
    const before = await count()
    const eve = newClient(sharedErgon())
    for (const wrong of [
      { origin: 'https://evil.example' },
      { rpId: 'localhost' },
      { isUnverified: true },
      { crossOrigin: true },
      { type: 'webauthn.get' },
    ] as Wrong[]) {
      const options = await eve.must(200, 'POST', '/v1/sign-up/options', { name: 'eve' })
      const response = eve.passkey.create(options as never, wrong)
      assert.deepEqual(codeOf(await eve.ask('POST', '/v1/sign-up', { response })), [
        403,
        'passkey_refused',
      ])
    }
    for (const attestation of ['android-key', 'android-safetynet', 'apple', 'packed', 'tpm', 'x']) {
      const options = await eve.must(200, 'POST', '/v1/sign-up/options', { name: 'eve' })
      const response = eve.passkey.create(options as never, { attestation })
      const answer = await eve.ask('POST', '/v1/sign-up', { response })
      assert.deepEqual(codeOf(answer), [403, 'passkey_refused'])
      // Nothing has looked at the certificates: their addresses would be fetched.
      assert.match(JSON.stringify(answer.body), /attestation with certificates/, attestation)
    }
    assert.equal(await count(), before)
  })

  test('one passkey has one member', async () => {
    const eve = newClient(sharedErgon())
    const options = await eve.must(200, 'POST', '/v1/sign-up/options', { name: 'eve' })
    // The same credential id with another key: it would take over the sign-in of its owner.
    const response = newSoftPasskey(ada.origin, ada.passkey.id).create(options as never)
    assert.deepEqual(codeOf(await eve.ask('POST', '/v1/sign-up', { response })), [
      409,
      'passkey_exists',
    ])
  })

  test('a member has at most twenty passkeys', async () => {
    const eve = newClient(sharedErgon())
    const { member_id: member, account_id: own } = await signUpSoftly(eve, { name: 'many' })
    await sharedErgon().sql(
      `insert into passkeys (id, account, member, credential, public_key, counter, transports, is_synced, name)
       select 'passkey_' || n, $1, $2, 'planted-' || n, '', 0, '{}', false, 'planted' from generate_series(1, 19) n`,
      [own, member],
    )
    assert.deepEqual(codeOf(await eve.ask('POST', '/v1/passkeys/options')), [
      409,
      'too_many_passkeys',
    ])
  })

  test('nothing of an answer tells whether a passkey or an account is there', async () => {
    const answers = []
    for (const passkey of [newSoftPasskey(ada.origin), ada.passkey]) {
      const eve = newClient(sharedErgon())
      const options = await eve.must(200, 'POST', '/v1/sign-in/options')
      assert.equal((options as { allowCredentials?: unknown[] }).allowCredentials, undefined)
      const response = passkey.get(options as never, { rpId: 'localhost' })
      answers.push(codeOf(await eve.ask('POST', '/v1/sign-in', { response })))
    }
    assert.deepEqual(answers[0], answers[1])
  })

  test('recovery codes are tried ten times a minute from a network', async () => {
    const eve = newClient(sharedErgon())
    const statuses: number[] = []
    for (let tries = 0; tries < 12; tries++) {
      const code = `aaaaa-aaaaa-aaaaa-aaa${String(tries).padStart(2, '0')}`
      const from = { address: '127.0.0.66' }
      statuses.push((await eve.ask('POST', '/v1/session/recover', { code }, from)).status)
    }
    assert.ok(statuses.includes(403) && statuses.at(-1) === 429, statuses.join(' '))
  })

  test('no page can be framed, and no script of elsewhere runs in it', async () => {
    for (const path of ['/', '/v1/session', '/nowhere.js']) {
      const { headers } = await ada.ask('GET', path)
      const policy = String(headers['content-security-policy'])
      for (const rule of [
        "default-src 'none'",
        `script-src ${ada.origin}/assets/;`,
        `style-src ${ada.origin}/assets/;`,
        `worker-src ${ada.origin}/assets/;`,
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ])
        assert.ok(policy.includes(rule), `${path}: ${rule}`)
      assert.doesNotMatch(policy, /unsafe|\*/)
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
      assert.equal(headers['access-control-allow-origin'], undefined)
    }
  })

  test('a page of elsewhere neither loads nor opens what the API tells a session', async () => {
    const ask = async (path: string, site: string, use: string) =>
      codeOf(
        await ada.ask('GET', path, undefined, {
          headers: { 'sec-fetch-site': site, 'sec-fetch-dest': use },
        }),
      )
    for (const path of ['/v1/session', '/v1/balance', '/v1/account/export'])
      for (const site of ['cross-site', 'same-site'])
        for (const use of ['empty', 'image', 'document'])
          assert.deepEqual(await ask(path, site, use), [403, 'origin_refused'], `${path} ${site}`)
    for (const [site, use] of [
      ['same-origin', 'empty'],
      // A download by a link of the portal, and a typed address.
      ['same-origin', 'document'],
      ['none', 'document'],
    ] as const)
      assert.equal((await ask('/v1/balance', site, use))[0], 200, `${site} ${use}`)
    // Links of other pages lead to the console all the same.
    assert.notEqual((await ask('/usage', 'cross-site', 'document'))[0], 403)
  })

  test('a reader of this machine comes to the portal by its other names, and nowhere else', async () => {
    const { port } = sharedErgon()
    const host = `localhost:${port + 1}`
    for (const [path, location] of [
      ['/usage', '/usage'],
      ['//evil.example/x', '/evil.example/x'],
    ]) {
      const { status, headers } = await ada.ask('GET', path ?? '', undefined, { host })
      assert.deepEqual([status, headers.location], [307, `${ada.origin}${location}`])
    }
    const posted = await ada.ask('POST', '/v1/session/recover', { code: 'x' }, { host })
    assert.deepEqual(codeOf(posted), [421, 'host_unknown'])
  })
})
