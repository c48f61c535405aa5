// Passkeys and sessions with a real browser and authenticators of its own: sign up, sign in, a fresh touch, several
// passkeys, recovery, invitations, and the ends of sessions.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { DESCRIPTIONS } from '#contract/descriptions.ts'
import { operationOf } from '#contract/operations.ts'
import { ROUTES } from '#contract/routes.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import {
  done,
  newPerson,
  openBrowser,
  QUIET_PAGE,
  signIn,
  signUp,
  touch,
  withoutBrowser,
  type Answer,
  type Person,
} from './browser.ts'

product(PLAIN)

describe('the portal in a browser', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => (browser = await openBrowser()))
  after(() => browser.close())

  const portal = () => String(sharedErgon().ready['portal_url'])
  const person = () => newPerson(browser, portal(), QUIET_PAGE)
  const code = ({ status, body }: Answer) => [status, body.error?.code]

  test('a passkey makes an account; its session asks the public API, and the account pays', async () => {
    await using ada = await person()
    const { account_id: account, recovery_codes: codes } = await signUp(ada, { name: 'my-team' })
    assert.equal(new Set(codes).size, 10)
    const balance = await ada.ask('GET', '/v1/balance')
    assert.equal(balance.status, 200)
    const receipt = balance.headers['x-receipt-id'] ?? ''
    const session = done(await ada.ask('GET', '/v1/session'), 200)
    assert.deepEqual(
      [session['account_id'], session['account_name'], session['is_operator']],
      [account, 'my-team', false],
    )
    assert.deepEqual([session['passkeys_count'], session['recovery_codes_left']], [1, 10])
    const last = done(await ada.ask('GET', `/v1/receipts?limit=5`), 200)
    const receipts = last['data'] as { id: string }[]
    assert.ok(receipts.some(({ id }) => id === receipt))
    const { data } = done(await ada.ask('GET', '/v1/audit'), 200) as {
      data: { action: string; member: { id: string } | null }[]
    }
    assert.deepEqual(
      data.map(({ action }) => action),
      ['sign-up.finish'],
    )
    assert.ok(data[0]?.member !== null)
  })

  test('signing out ends the session at once, and any passkey of the portal signs in again', async () => {
    await using ada = await person()
    const { account_id: account } = await signUp(ada, { name: 'out-and-in' })
    const cookies = await ada.context.cookies()
    const [cookie] = cookies.filter(({ name }) => name === 'ergon_session')
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Lax'])
    assert.equal(cookie?.domain, 'portal.localhost')
    done(await ada.ask('DELETE', '/v1/session'), 200)
    assert.deepEqual(code(await ada.ask('GET', '/v1/balance')), [401, 'session_missing'])
    // The text of the ended session.
    await ada.context.addCookies(cookies)
    assert.deepEqual(code(await ada.ask('GET', '/v1/balance')), [401, 'session_ended'])
    const session = await signIn(ada)
    assert.equal(session['account_id'], account)
  })

  test('an assertion is accepted once, and only where it was asked for', async () => {
    await using ada = await person()
    await using eve = await person()
    await signUp(ada, { name: 'replay' })
    const options = done(await ada.ask('POST', '/v1/sign-in/options'), 200)
    const response = await ada.get(options)
    assert.deepEqual(code(await eve.ask('POST', '/v1/sign-in', { response })), [
      409,
      'challenge_ended',
    ])
    done(await ada.ask('POST', '/v1/sign-in', { response }), 200)
    assert.deepEqual(code(await ada.ask('POST', '/v1/sign-in', { response })), [
      409,
      'challenge_ended',
    ])
    // An earlier answer never answers a later request.
    done(await ada.ask('POST', '/v1/sign-in/options'), 200)
    assert.deepEqual(code(await ada.ask('POST', '/v1/sign-in', { response })), [
      409,
      'challenge_ended',
    ])
  })

  test('two pages of a browser ask for passkeys at once, and each is answered', async () => {
    await using ada = await person()
    await signUp(ada, { name: 'pages' })
    const ask = async () => done(await ada.ask('POST', '/v1/sign-in/options'), 200)
    const [first, second] = [await ask(), await ask()]
    for (const options of [first, second])
      done(await ada.ask('POST', '/v1/sign-in', { response: await ada.get(options) }), 200)
  })

  test('a session opens, touches and changes its text: none is known beforehand', async () => {
    await using ada = await person()
    const text = async () =>
      (await ada.context.cookies()).find(({ name }) => name === 'ergon_session')?.value
    await signUp(ada, { name: 'fixation' })
    const first = await text()
    await signIn(ada)
    const second = await text()
    await touch(ada)
    assert.equal(new Set([first, second, await text()]).size, 3)
  })

  test('a token needs a touch of the last five minutes', async () => {
    await using ada = await person()
    await signUp(ada, { name: 'touch' })
    const token = { name: 'mine', scope: 'read' }
    done(await ada.ask('POST', '/v1/tokens', token), 201)
    await age(ada, "touched_until = now() - interval '1 second'")
    assert.deepEqual(code(await ada.ask('POST', '/v1/tokens', token)), [403, 'touch_required'])
    assert.deepEqual(code(await ada.ask('DELETE', '/v1/passkeys/none')), [403, 'touch_required'])
    assert.equal((await ada.ask('GET', '/v1/tokens')).status, 200)
    await touch(ada)
    const made = done(await ada.ask('POST', '/v1/tokens', token), 201)
    const listed = done(await ada.ask('GET', '/v1/tokens'), 200)['data'] as { id: string }[]
    // Sessions are no tokens of the list.
    assert.equal(listed.length, 2)
    assert.ok(listed.some(({ id }) => id === made['id']))
  })

  test('a second passkey is added on another device, and the last one stays', async () => {
    await using ada = await person()
    await signUp(ada, { name: 'two-keys' })
    const first = done(await ada.ask('GET', '/v1/passkeys'), 200)['data'] as { id: string }[]
    const begin = async () => done(await ada.ask('POST', '/v1/passkeys/options'), 200)
    const excluded = await begin()
    await assert.rejects(ada.create(excluded), /InvalidStateError/)
    await ada.addAuthenticator({ transport: 'usb' })
    const response = await ada.create(await begin())
    const added = done(await ada.ask('POST', '/v1/passkeys', { response, name: 'key' }), 201)
    assert.equal(added['name'], 'key')
    const path = `/v1/passkeys/${String(added['id'])}`
    assert.equal(done(await ada.ask('PATCH', path, { name: 'blue key' }), 200)['name'], 'blue key')
    done(await ada.ask('DELETE', `/v1/passkeys/${first[0]?.id}`), 200)
    assert.deepEqual(code(await ada.ask('DELETE', path)), [409, 'last_passkey'])
    assert.deepEqual(code(await ada.ask('DELETE', '/v1/passkeys/none')), [404, 'passkey_not_found'])
    await ada.cdp.send('WebAuthn.removeVirtualAuthenticator', {
      authenticatorId: ada.authenticator,
    })
    assert.equal((await signIn(ada))['passkeys_count'], 1)
  })

  test('an authenticator that does not verify its user is refused', async () => {
    await using ada = await person()
    await signUp(ada, { name: 'unverified' })
    const options = done(await ada.ask('POST', '/v1/session/touch/options'), 200)
    await ada.cdp.send('WebAuthn.setUserVerified', {
      authenticatorId: ada.authenticator,
      isUserVerified: false,
    })
    // The page asks for less than the portal did.
    const response = await ada.get({ ...options, userVerification: 'discouraged' })
    const answer = await ada.ask('POST', '/v1/session/touch', { response })
    assert.deepEqual(code(answer), [403, 'passkey_refused'])
    assert.match(JSON.stringify(answer.body), /[Uu]ser verification/)
  })

  test('a recovery code lets in once, and to nothing but a new passkey', async () => {
    await using ada = await person()
    const { recovery_codes: codes } = await signUp(ada, { name: 'lost' })
    await using later = await person()
    const [one = ''] = codes
    done(await later.ask('POST', '/v1/session/recover', { code: one.toUpperCase() }), 200)
    assert.deepEqual(code(await later.ask('GET', '/v1/balance')), [403, 'passkey_required'])
    assert.equal(done(await later.ask('GET', '/v1/session'), 200)['must_add_passkey'], true)
    const options = done(await later.ask('POST', '/v1/passkeys/options'), 200)
    const response = await later.create(options)
    done(await later.ask('POST', '/v1/passkeys', { response, name: 'new phone' }), 201)
    assert.equal((await later.ask('GET', '/v1/balance')).status, 200)
    await using third = await person()
    for (const wrong of [one, 'aaaaa-aaaaa-aaaaa-aaaaa', ''])
      assert.deepEqual(code(await third.ask('POST', '/v1/session/recover', { code: wrong })), [
        403,
        'recovery_code_refused',
      ])
    await using thief = await person()
    done(await thief.ask('POST', '/v1/session/recover', { code: codes[2] }), 200)
    const renewed = done(await ada.ask('POST', '/v1/recovery-codes'), 201)
    assert.deepEqual(code(await thief.ask('POST', '/v1/passkeys/options')), [401, 'session_ended'])
    assert.equal((renewed['recovery_codes'] as string[]).length, 10)
    const old = await third.ask('POST', '/v1/session/recover', { code: codes[1] })
    assert.deepEqual(code(old), [403, 'recovery_code_refused'])
  })

  test('an invited member joins by a passkey, and its sessions end with its role', async () => {
    await using ada = await person()
    await using bob = await person()
    const { account_id: account } = await signUp(ada, { name: 'inviting' })
    const invited = done(
      await ada.ask('POST', '/v1/members', { name: 'Bob', role: 'developer' }),
      201,
    )
    const invitation = String(invited['invitation_code'])
    const asked = done(await bob.ask('POST', '/v1/sign-up/options', { invitation }), 200)
    const { member } = done(await ada.ask('GET', '/v1/session'), 200)
    assert.deepEqual(asked['invited'], {
      account_id: account,
      account_name: 'inviting',
      account_owner: (member as { readonly name: string }).name,
      name: 'Bob',
      role: 'developer',
      is_active: false,
    })
    assert.equal((await signUp(bob, { invitation })).account_id, account)
    const again = await bob.ask('POST', '/v1/sign-up/options', { invitation })
    assert.deepEqual(code(again), [409, 'invitation_ended'])
    assert.equal((await bob.ask('GET', '/v1/balance')).status, 200)
    assert.deepEqual(code(await bob.ask('POST', '/v1/members', { name: 'Eve', role: 'viewer' })), [
      403,
      'scope_missing',
    ])
    // A token of the session lives its own life, not that of the session.
    const token = { name: 'of a developer', scope: 'deploy', expires_days: 90 }
    const made = done(await bob.ask('POST', '/v1/tokens', token), 201)
    assert.ok(Date.parse(String(made['expires_at'])) > Date.now() + 80 * 86_400_000)
    const path = `/v1/members/${String(invited['id'])}`
    done(await ada.ask('PATCH', path, { role: 'viewer' }), 200)
    assert.deepEqual(code(await bob.ask('GET', '/v1/balance')), [401, 'session_ended'])
    await signIn(bob)
    done(await ada.ask('DELETE', path), 200)
    assert.deepEqual(code(await bob.ask('GET', '/v1/balance')), [401, 'session_ended'])
    const options = done(await bob.ask('POST', '/v1/sign-in/options'), 200)
    const answer = await bob.ask('POST', '/v1/sign-in', { response: await bob.get(options) })
    assert.deepEqual(code(answer), [403, 'passkey_refused'])
  })

  test('a signed-in device lets another one in by a link, once', async () => {
    await using ada = await person()
    await using phone = await person()
    const { member_id: member } = await signUp(ada, { name: 'devices' })
    const approval = done(await ada.ask('POST', '/v1/device-approvals'), 201)
    assert.equal(approval['url'], `${portal()}/sign-up#${String(approval['code'])}`)
    const invitation = String(approval['code'])
    const asked = done(await phone.ask('POST', '/v1/sign-up/options', { invitation }), 200)
    assert.equal((asked['invited'] as { is_active: boolean }).is_active, true)
    const joined = await signUp(phone, { invitation })
    assert.equal(joined.member_id, member)
    assert.deepEqual(joined.recovery_codes, [])
    const listed = done(await ada.ask('GET', '/v1/sessions'), 200)['data'] as {
      id: string
      current: boolean
    }[]
    assert.equal(listed.length, 2)
    const other = listed.find(({ current }) => !current)
    done(await ada.ask('DELETE', `/v1/sessions/${other?.id}`), 200)
    assert.deepEqual(code(await phone.ask('GET', '/v1/balance')), [401, 'session_ended'])
    assert.deepEqual(code(await ada.ask('DELETE', '/v1/sessions/none')), [404, 'session_not_found'])
  })

  test('a session ends after its idle time, and use moves that end no further than 30 days', async () => {
    await using ada = await person()
    await signUp(ada, { name: 'idle' })
    const expires = async () =>
      Date.parse(String(done(await ada.ask('GET', '/v1/session'), 200)['expires_at']))
    await ageToken(ada, "expires_at = now() + interval '1 hour'")
    assert.ok((await expires()) > Date.now() + 11 * 3_600_000)
    await age(ada, "ends_at = now() + interval '2 hours'")
    await ageToken(ada, "expires_at = now() + interval '1 hour'")
    const last = await expires()
    assert.ok(last < Date.now() + 2 * 3_600_000, new Date(last).toISOString())
    await ageToken(ada, "expires_at = now() - interval '1 second'")
    assert.deepEqual(code(await ada.ask('GET', '/v1/balance')), [401, 'session_ended'])
  })

  test('every read of the portal is what the OpenAPI document says', async () => {
    await using ada = await person()
    await signUp(ada, { name: 'documented' })
    // Those of the operator's view are in test/operator/: a stranger is refused there.
    const reads = ROUTES.filter(
      ({ method, operation, path }) =>
        method === 'GET' &&
        operationOf(operation).onPortal === true &&
        !path.includes(':') &&
        !path.startsWith('/v1/operator/'),
    )
    assert.ok(reads.length >= 3)
    for (const { path, operation } of reads) {
      const body = done(await ada.ask('GET', path), 200)
      const { replies } = DESCRIPTIONS[operation as keyof typeof DESCRIPTIONS]
      replies[200]?.media['application/json']?.parse(body)
    }
  })

  /** Changes the facts of the newest session of the person, as time would. */
  async function age(one: Person, change: string): Promise<void> {
    await changeSession(one, `update browser_sessions set ${change} where token = $1`)
  }
  async function ageToken(one: Person, change: string): Promise<void> {
    await changeSession(one, `update tokens set ${change} where id = $1`)
  }
  async function changeSession(one: Person, statement: string): Promise<void> {
    const { data } = done(await one.ask('GET', '/v1/sessions'), 200) as { data: { id: string }[] }
    const ergon = sharedErgon()
    const [row] = await ergon.sql<{ epoch: string }>(
      `with changed as (${statement} returning 1)
       select change_credentials(null, account) as epoch from tokens where id = $1 and exists (select from changed)`,
      [data[0]?.id],
    )
    await ergon.sql('select pg_sleep(0.5), $1::text', [row?.epoch])
  }
})
