// Passkeys and logins that strangers keep waiting: one network has a small share, so it shuts nobody else out, and members who
// are signed in have their own.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { askerText, networkAsker } from '#portal/waiting.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newClient, signUpSoftly, type PortalClient } from './client.ts'

/** Two addresses of one network of 24 bits, and one of another. */
const [HERE, BESIDE, ELSEWHERE] = ['127.9.9.1', '127.9.9.200', '127.9.8.1']

product(PLAIN)

describe('strangers at the portal', () => {
  let ada: PortalClient
  before(async () => {
    ada = newClient(sharedErgon())
    await signUpSoftly(ada, { name: 'strangers' })
  })
  after(async () => {
    await sharedErgon().sql("delete from passkey_challenges where challenge like 'planted%'")
    await sharedErgon().sql("delete from command_logins where id like 'planted%'")
  })

  const codeOf = ({ status, body }: Awaited<ReturnType<PortalClient['ask']>>) => [
    status,
    body.error?.code,
  ]
  const options = async (address: string, path = '/v1/sign-in/options') =>
    codeOf(await newClient(sharedErgon()).ask('POST', path, undefined, { address }))
  const login = async (address: string) => {
    const { port } = sharedErgon()
    const asked = { name: 'laptop', code_challenge: 'a'.repeat(43) }
    const api = { address, port, host: `localhost:${port}`, origin: null }
    return codeOf(await newClient(sharedErgon()).ask('POST', '/v1/logins', asked, api))
  }
  /** More rows as that of HERE, of as many askers as `asker` makes of n. */
  const plantChallenges = (rows: number, asker: string) =>
    sharedErgon().sql(
      `insert into passkey_challenges (challenge, browser, kind, facts, expires_at, asker)
       select 'planted ' || $1 || n, browser, kind, facts, expires_at, ${asker}
       from generate_series(1, $2::int) n,
         (select * from passkey_challenges where kind = 'sign-in' and asker = $3 limit 1) own`,
      [asker, rows, askerText(networkAsker(HERE))],
    )
  const plantLogins = (rows: number, asker: string) =>
    sharedErgon().sql(
      `insert into command_logins (id, user_code, code_challenge, name, address, expires_at, asker)
       select 'planted' || $1 || n, 'planted' || $1 || n, code_challenge, name, address, expires_at, ${asker}
       from generate_series(1, $2::int) n,
         (select * from command_logins where asker = $3 limit 1) own`,
      [asker, rows, askerText(networkAsker(HERE))],
    )

  test('a network that keeps too many passkeys waiting is refused alone', async () => {
    assert.deepEqual(await options(HERE), [200, undefined])
    await plantChallenges(399, 'asker')
    assert.deepEqual(await options(BESIDE), [429, 'rate_limit_exceeded'])
    assert.deepEqual(await options(ELSEWHERE), [200, undefined])
  })

  test('a network that keeps too many logins waiting is refused alone', async () => {
    assert.deepEqual(await login(HERE), [201, undefined])
    await plantLogins(199, 'asker')
    assert.deepEqual(await login(BESIDE), [429, 'rate_limit_exceeded'])
    assert.deepEqual(await login(ELSEWHERE), [201, undefined])
  })

  test('logins are begun and asked for 240 times a minute from an address', async () => {
    const { port } = sharedErgon()
    const client = newClient(sharedErgon())
    const api = { address: '127.0.0.77', port, host: `localhost:${port}`, origin: null }
    const redemption = { code_verifier: 'a'.repeat(43) }
    const ask = async () =>
      codeOf(await client.ask('POST', '/v1/logins/login_none/token', redemption, api))
    const codes = new Set<string>()
    for (let asked = 0; asked < 400 && !codes.has('429,rate_limit_exceeded'); asked += 20)
      for (const code of await Promise.all(Array.from({ length: 20 }, ask))) codes.add(String(code))
    assert.deepEqual([...codes], ['404,login_not_found', '429,rate_limit_exceeded'])
    // One is free again each quarter of a second.
    const begun = await Promise.all(Array.from({ length: 20 }, () => login(api.address)))
    assert.ok(
      begun.some(([status]) => status === 429),
      String(begun),
    )
    assert.deepEqual(await login('127.0.0.78'), [201, undefined])
  })

  test('passkeys are answered 120 times and asked for 240 times a minute from a network', async () => {
    const { passkey } = ada
    const response = passkey.get({ challenge: 'a'.repeat(43) } as never)
    const pace = async (path: string, body: object | undefined, address: string) => {
      const client = newClient(sharedErgon())
      const ask = async () => (await client.ask('POST', path, body, { address })).status
      const statuses: number[] = []
      while (statuses.length < 400 && !statuses.includes(429))
        statuses.push(...(await Promise.all(Array.from({ length: 20 }, ask))))
      const [first = 0] = statuses
      const answered = statuses.filter((status) => status === first).length
      return { first, answered, refused: statuses.filter((status) => status === 429).length }
    }
    for (const [path, body, address, perMinute, first] of [
      ['/v1/sign-in', { response }, '127.9.7.1', 120, 409],
      ['/v1/sign-in/options', undefined, '127.9.6.1', 240, 200],
    ] as const) {
      const seen = await pace(path, body, address)
      assert.equal(seen.first, first, path)
      // A bucket that fills while it is emptied gives a few more.
      assert.ok(seen.refused > 0 && seen.answered >= perMinute, JSON.stringify(seen))
    }
  })

  test('many networks that keep too many waiting shut out strangers, and nobody who is signed in', async () => {
    await plantChallenges(20_000, "'network ' || n")
    assert.deepEqual(await options(ELSEWHERE), [503, 'overloaded'])
    await ada.must(200, 'POST', '/v1/session/touch/options')
    await plantLogins(10_000, "'network ' || n")
    assert.deepEqual(await login(ELSEWHERE), [503, 'overloaded'])
  })

  test('a session keeps twenty passkeys waiting, and shuts out itself alone', async () => {
    const bob = newClient(sharedErgon())
    const eve = newClient(sharedErgon())
    await sharedErgon().sql("delete from passkey_challenges where challenge like 'planted%'")
    await signUpSoftly(bob, { name: 'many challenges' })
    await signUpSoftly(eve, { name: 'another session' })
    for (let times = 0; times < 20; times++)
      await bob.must(200, 'POST', '/v1/session/touch/options')
    assert.deepEqual(codeOf(await bob.ask('POST', '/v1/session/touch/options')), [
      429,
      'rate_limit_exceeded',
    ])
    await eve.must(200, 'POST', '/v1/session/touch/options')
  })
})
