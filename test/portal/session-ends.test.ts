// The ends of sessions at a browser, at two gateways: a sign-out, another role, a removal, a touch, the end of the account.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { PLAIN, TWO_GATEWAYS } from '../settings.ts'
import { newClient, signInSoftly, signUpSoftly, type PortalClient } from './client.ts'

/** The first message of a live stream comes within a second. */
const STREAM_BEGINS_MS = 2000

// As of logins.test.ts: equal settings follow each other on one product.
product(PLAIN, { ...TWO_GATEWAYS, ERGON_SIGN_UP: 'invite' })

describe('ends of sessions', () => {
  let owner: PortalClient
  before(async () => {
    const ergon = sharedErgon()
    const { url } = await ergon.control('member.recover', { target: ergon.account })
    owner = newClient(ergon)
    await signUpSoftly(owner, { invitation: url.split('#')[1] ?? '' })
  })

  const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
    status,
    body.error?.code,
  ]

  test('a session ends at every gateway by the answer: signed out, another role, removed', async () => {
    const member = newClient(sharedErgon())
    const invited = await owner.must(201, 'POST', '/v1/members', { name: 'Bob', role: 'viewer' })
    await signUpSoftly(member, { invitation: String(invited['invitation_code']) })
    const path = `/v1/members/${String(invited['id'])}`
    const ends: Record<string, () => Promise<unknown>> = {
      'signed out': () => member.must(200, 'DELETE', '/v1/session'),
      'a greater role': () => owner.must(200, 'PATCH', path, { role: 'developer' }),
      'a smaller role': () => owner.must(200, 'PATCH', path, { role: 'viewer' }),
      removed: () => owner.must(200, 'DELETE', path),
    }
    for (const [what, end] of Object.entries(ends)) {
      const cookie = `ergon_session=${member.cookies.get('ergon_session')}`
      for (let times = 0; times < 8; times++)
        assert.equal((await member.ask('GET', '/v1/session', undefined, { cookie })).status, 200)
      await end()
      for (let times = 0; times < 8; times++)
        assert.deepEqual(
          codeOf(await member.ask('GET', '/v1/session', undefined, { cookie })),
          [401, 'session_ended'],
          what,
        )
      if (what !== 'removed') await signInSoftly(member)
    }
  })

  test('a sign-out ends what runs under the session, and is answered', async () => {
    const member = newClient(sharedErgon())
    const invited = await owner.must(201, 'POST', '/v1/members', { name: 'Dan', role: 'viewer' })
    await signUpSoftly(member, { invitation: String(invited['invitation_code']) })
    const stream = member.ask('GET', '/v1/live?seconds=60')
    await pause(STREAM_BEGINS_MS)
    await member.must(200, 'DELETE', '/v1/session')
    const { text } = await stream
    assert.match(text, /event: error\ndata: .*token_revoked/)
    assert.doesNotMatch(text, /event: end/)
  })

  test('a touch ends no request beside it, and its old text has no touch and ends soon', async () => {
    const member = newClient(sharedErgon())
    const invited = await owner.must(201, 'POST', '/v1/members', { name: 'Eve', role: 'developer' })
    await signUpSoftly(member, { invitation: String(invited['invitation_code']) })
    const text = () => `ergon_session=${member.cookies.get('ergon_session')}`
    const touched = async () => {
      const options = await member.must(200, 'POST', '/v1/session/touch/options')
      const response = member.passkey.get(options as never)
      await member.must(200, 'POST', '/v1/session/touch', { response })
    }
    const statuses = async (cookie: string) => {
      const seen = new Set<number>()
      for (let times = 0; times < 8; times++)
        seen.add((await member.ask('GET', '/v1/session', undefined, { cookie })).status)
      return [...seen]
    }
    const before = text()
    await touched()
    // The browser left before the answer came, and touches again.
    member.cookies.set('ergon_session', before.slice('ergon_session='.length))
    await touched()
    assert.notEqual(text(), before)
    assert.deepEqual(await statuses(before), [200])
    const token = { name: 'of an old text', scope: 'read' }
    const refused = await member.ask('POST', '/v1/tokens', token, { cookie: before })
    assert.deepEqual(codeOf(refused), [403, 'touch_required'])
    await member.must(201, 'POST', '/v1/tokens', token)
    assert.deepEqual(await statuses(before), [200])
    await pause(10_500)
    assert.deepEqual([await statuses(before), await statuses(text())], [[401], [200]])
  })

  test('the deletion of an account ends its sessions and takes its passkeys', async () => {
    const ergon = sharedErgon()
    const { id: account } = await ergon.control('account.create', {})
    const { url, member } = await ergon.control('member.recover', { target: account })
    const eve = newClient(ergon)
    await signUpSoftly(eve, { invitation: url.split('#')[1] ?? '' })
    await eve.must(202, 'DELETE', '/v1/account', { confirm: account, at_once: true })
    const limit = AbortSignal.timeout(60_000)
    for (;;) {
      const answer = await eve.ask('GET', '/v1/session')
      if (answer.status === 401) break
      assert.equal(answer.status, 200)
      await pause(200, undefined, { signal: limit })
    }
    for (;;) {
      const rows = await ergon.sql('select id from passkeys where member = $1', [member])
      if (rows.length === 0) break
      await pause(200, undefined, { signal: limit })
    }
  })
})
