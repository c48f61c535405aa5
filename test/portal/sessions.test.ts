// Sessions and the passkeys that open them: how many a member has, what one session may do with the challenge of another,
// and two answers at once. The audit log tells of each end.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newClient, signInSoftly, signUpSoftly, type PortalClient } from './client.ts'

const SESSIONS_MAX = 20

product(PLAIN)

describe('sessions of a member', () => {
  const codeOf = ({ status, body }: Awaited<ReturnType<PortalClient['ask']>>) => [
    status,
    body.error?.code,
  ]
  type Entry = { action: string; target: string; details: object; member: object | null }
  const newMember = async (name: string) => {
    const client = newClient(sharedErgon())
    await signUpSoftly(client, { name })
    return client
  }
  const sessionsOf = async (client: PortalClient) =>
    ((await client.must(200, 'GET', '/v1/sessions'))['data'] as { id: string }[]).map(
      ({ id }) => id,
    )
  const auditOf = async (client: PortalClient, action: string) =>
    (await client.must(200, 'GET', `/v1/audit?action=${action}`))['data'] as Entry[]

  test('the twenty-first session ends the oldest, and the audit log says so', async () => {
    const ada = await newMember('many sessions')
    const cookie = `ergon_session=${ada.cookies.get('ergon_session')}`
    const [oldest] = await sessionsOf(ada)
    for (let sessions = 2; sessions <= SESSIONS_MAX; sessions++) await signInSoftly(ada)
    assert.equal((await ada.ask('GET', '/v1/session', undefined, { cookie })).status, 200)
    assert.deepEqual(await auditOf(ada, 'session.remove'), [])
    await signInSoftly(ada)
    assert.deepEqual(codeOf(await ada.ask('GET', '/v1/session', undefined, { cookie })), [
      401,
      'session_ended',
    ])
    const left = await sessionsOf(ada)
    assert.deepEqual([left.length, left.includes(oldest ?? '')], [SESSIONS_MAX, false])
    const [entry, ...more] = await auditOf(ada, 'session.remove')
    assert.deepEqual(more, [])
    assert.deepEqual(
      [entry?.target, entry?.details, entry?.member === null],
      [oldest, { sessions_max: SESSIONS_MAX }, false],
    )
  })

  test('an answer that comes after the five minutes of its challenge is refused, and uses the challenge up', async () => {
    const ada = await newMember('late')
    const expire = (by: string) =>
      sharedErgon().sql(
        `update passkey_challenges set expires_at = expires_at - interval '5 minutes' - $1::interval where kind = 'sign-in'`,
        [by],
      )
    const options = await ada.must(200, 'POST', '/v1/sign-in/options')
    const response = ada.passkey.get(options as never)
    await expire('1 second')
    const late = [409, 'challenge_ended']
    assert.deepEqual(codeOf(await ada.ask('POST', '/v1/sign-in', { response })), late)
    await expire('-1 hour')
    assert.deepEqual(codeOf(await ada.ask('POST', '/v1/sign-in', { response })), late)
    await signInSoftly(ada)
  })

  test('the state has no code of an invitation while its passkey is waited for', async () => {
    const ada = await newMember('inviting')
    const { code } = await ada.must(201, 'POST', '/v1/device-approvals')
    const device = newClient(sharedErgon())
    const asked = { invitation: String(code) }
    const options = await device.must(200, 'POST', '/v1/sign-up/options', asked)
    const waiting = await sharedErgon().sql('select c::text as text from passkey_challenges c')
    assert.ok(waiting.length > 0)
    for (const { text } of waiting) assert.doesNotMatch(String(text), /inv_/)
    const response = device.passkey.create(options as never)
    await device.must(201, 'POST', '/v1/sign-up', { response })
  })

  test('a challenge of one session gives another one of the same browser neither touch nor passkey', async () => {
    const ada = await newMember('two sessions')
    const touch = await ada.must(200, 'POST', '/v1/session/touch/options')
    const options = await ada.must(200, 'POST', '/v1/passkeys/options')
    await signInSoftly(ada)
    const touched = { response: ada.passkey.get(touch as never) }
    assert.deepEqual(codeOf(await ada.ask('POST', '/v1/session/touch', touched)), [
      403,
      'passkey_refused',
    ])
    const { passkey } = newClient(sharedErgon())
    const added = { response: passkey.create(options as never), name: 'planted' }
    assert.deepEqual(codeOf(await ada.ask('POST', '/v1/passkeys', added)), [403, 'passkey_refused'])
    assert.equal((await ada.must(200, 'GET', '/v1/session'))['passkeys_count'], 1)
  })

  test('two answers with one count of signatures sign in once, even at the same moment', async () => {
    const ada = await newMember('one count')
    const eve = newClient(sharedErgon())
    const counter = 1000
    const ask = async (client: PortalClient) => {
      const options = await client.must(200, 'POST', '/v1/sign-in/options')
      const response = ada.passkey.get(options as never, { counter })
      return () => client.ask('POST', '/v1/sign-in', { response })
    }
    const answers = [await ask(ada), await ask(eve)]
    // Both are verified while the row is locked, and both want to write their count.
    const locked = sharedErgon().sql(
      `with one as (select from passkeys where credential = $1 for update)
       select pg_sleep(1) from one`,
      [ada.passkey.id],
    )
    await pause(200)
    const codes = (await Promise.all(answers.map((answer) => answer()))).map(codeOf)
    await locked
    assert.deepEqual(codes.map(String).toSorted(), ['200,', '403,passkey_refused'])
  })

  test('a passkey that does not count signs in again, and one that did count must go on', async () => {
    const ada = newClient(sharedErgon())
    const options = await ada.must(200, 'POST', '/v1/sign-up/options', { name: 'no count' })
    const response = ada.passkey.create(options as never, { counter: 0 })
    await ada.must(201, 'POST', '/v1/sign-up', { response })
    const signIn = async (counter: number) => {
      const asked = await ada.must(200, 'POST', '/v1/sign-in/options')
      const answer = { response: ada.passkey.get(asked as never, { counter }) }
      return (await ada.ask('POST', '/v1/sign-in', answer)).status
    }
    assert.deepEqual(
      [await signIn(0), await signIn(0), await signIn(7), await signIn(7), await signIn(0)],
      [200, 200, 200, 403, 403],
    )
  })

  test('the audit log has the name of a passkey that was removed', async () => {
    const ada = await newMember('removed passkey')
    const { passkey } = newClient(sharedErgon())
    const options = await ada.must(200, 'POST', '/v1/passkeys/options')
    const body = { response: passkey.create(options as never), name: 'old phone' }
    const { id } = await ada.must(201, 'POST', '/v1/passkeys', body)
    await ada.must(200, 'DELETE', `/v1/passkeys/${String(id)}`)
    const [entry] = await auditOf(ada, 'passkey.remove')
    assert.deepEqual([entry?.target, entry?.details], [id, { name: 'old phone' }])
  })

  test('a second device that comes by a link adds a passkey in the audit log, and signs nobody up', async () => {
    const ada = await newMember('second device')
    const { code } = await ada.must(201, 'POST', '/v1/device-approvals')
    await signUpSoftly(newClient(sharedErgon()), { invitation: String(code) })
    const { data } = await ada.must(200, 'GET', '/v1/passkeys')
    const [, second] = data as { id: string; name: string }[]
    const [entry, ...more] = await auditOf(ada, 'passkey.add')
    assert.deepEqual(more, [])
    assert.deepEqual([entry?.target, entry?.details], [second?.id, { name: second?.name }])
    assert.equal((await auditOf(ada, 'sign-up.finish')).length, 1)
  })
})
