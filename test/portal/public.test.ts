// The portal at a public address, behind a proxy that ends TLS. Its cookies are for this host and for https alone. Where
// anybody may sign up a network makes few accounts in a day.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newClient, signInSoftly, signUpSoftly, type PortalClient } from './client.ts'

const HOST = 'portal.example'
const SIGN_UPS_PER_DAY = 20
/** Two addresses of one network of 24 bits, and one of another. */
const [HERE, BESIDE, ELSEWHERE] = ['127.9.9.1', '127.9.9.200', '127.9.8.1']

product(PLAIN, {
  ERGON_PORTAL_URL: `https://${HOST}`,
  ERGON_SIGN_UP: 'open',
  ERGON_TRUSTED_PROXIES: '127.0.0.1',
})

describe('the portal at a public address', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-public-'))
  let server: Server
  let tls: { readonly port: number; readonly ca: string }
  before(async () => {
    const files = await selfSigned(folder, HOST)
    const [cert, key] = [readFileSync(files.cert, 'utf8'), readFileSync(files.key, 'utf8')]
    server = tlsServer({ cert, key }, sharedErgon().port + 1).listen(0, '127.0.0.1')
    await once(server, 'listening')
    tls = { port: (server.address() as AddressInfo).port, ca: cert }
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const client = (address = '127.0.0.1') => newClient(sharedErgon(), { tls, address })
  const codeOf = ({ status, body }: Awaited<ReturnType<PortalClient['ask']>>) => [
    status,
    body.error?.code,
  ]

  test('cookies are for this host and for https alone', async () => {
    const ada = client()
    const begun = await ada.ask('POST', '/v1/sign-up/options', { name: 'public' })
    const response = ada.passkey.create(begun.body as never)
    const made = await ada.ask('POST', '/v1/sign-up', { response })
    assert.equal(made.status, 201, made.text)
    const lines = [begun, made].flatMap(({ headers }) => headers['set-cookie'] ?? [])
    const [challenge, session, ...others] = lines.map((line) => line.replace(/=[\w-]+;/, '=…;'))
    assert.deepEqual(others, [])
    const rest = 'Path=/; HttpOnly; SameSite='
    assert.equal(challenge, `__Host-ergon_challenge=…; ${rest}Strict; Secure; Max-Age=300`)
    assert.equal(session, `__Host-ergon_session=…; ${rest}Lax; Secure; Max-Age=2592000`)
    assert.equal(made.headers['strict-transport-security'], 'max-age=31536000')
    assert.equal((await signInSoftly(ada))['account_id'], made.body['account_id'])
    // Another host may set a cookie without the prefix: that signs nobody in.
    const text = ada.cookies.get('__Host-ergon_session')
    const planted = { cookie: `ergon_session=${text}` }
    assert.deepEqual(codeOf(await ada.ask('GET', '/v1/session', undefined, planted)), [
      401,
      'session_missing',
    ])
    const left = await ada.ask('DELETE', '/v1/session')
    assert.match(String(left.headers['set-cookie']), /^__Host-ergon_session=; .*Secure; Max-Age=0$/)
  })

  test('a page of the same host without TLS changes nothing', async () => {
    const ada = client()
    await signUpSoftly(ada, { name: 'origins' })
    for (const origin of [`http://${HOST}`, `https://${HOST}:${tls.port}`, 'https://example'])
      assert.deepEqual(codeOf(await ada.ask('DELETE', '/v1/session', undefined, { origin })), [
        403,
        'origin_refused',
      ])
  })

  test('a network makes twenty accounts in a day, and shuts nobody else out', async () => {
    const accounts = async () =>
      (await sharedErgon().sql('select count(*)::int as n from accounts'))[0]?.['n']
    const count = (accountsMade: number, day: string) =>
      sharedErgon().sql(
        `update sign_ups set accounts = $1, day = (now() at time zone 'UTC')::date - $2::int
         where network = '127.9.9.0/24'`,
        [accountsMade, day],
      )
    await signUpSoftly(client(HERE), { name: 'the first' })
    await count(SIGN_UPS_PER_DAY - 1, '0')
    const late = client(BESIDE)
    const asked = await late.must(200, 'POST', '/v1/sign-up/options', { name: 'late' })
    await signUpSoftly(client(BESIDE), { name: 'the last' })
    const before = await accounts()
    const response = late.passkey.create(asked as never)
    assert.deepEqual(codeOf(await late.ask('POST', '/v1/sign-up', { response })), [
      429,
      'rate_limit_exceeded',
    ])
    const begun = await client(HERE).ask('POST', '/v1/sign-up/options', { name: 'another' })
    assert.deepEqual(codeOf(begun), [429, 'rate_limit_exceeded'])
    assert.ok(Number(begun.headers['retry-after']) > 0)
    assert.equal(await accounts(), before)
    await signUpSoftly(client(ELSEWHERE), { name: 'elsewhere' })
    // An invitation is no new account.
    const { url } = await sharedErgon().control('member.recover', { target: sharedErgon().account })
    await signUpSoftly(client(HERE), { invitation: url.split('#')[1] ?? '' })
    await count(SIGN_UPS_PER_DAY, '1')
    await signUpSoftly(client(HERE), { name: 'the next day' })
    await sharedErgon().sql('select portal_upkeep(1000)')
    const kept = await sharedErgon().sql(
      `select accounts::text from sign_ups where network = '127.9.9.0/24'`,
    )
    assert.deepEqual(kept, [{ accounts: '1' }])
  })
})

/** Ends TLS and names the client, as a proxy in front does. */
const tlsServer = (pair: { readonly cert: string; readonly key: string }, port: number): Server =>
  createServer(pair, (asked, answer) => {
    const { method, url: path, headers, socket } = asked
    const from = { 'x-forwarded-for': socket.remoteAddress, 'x-forwarded-proto': 'https' }
    const through = request(
      { host: '127.0.0.1', port, method, path, headers: { ...headers, ...from } },
      (made) => {
        answer.writeHead(made.statusCode ?? 502, made.headers)
        made.pipe(answer)
      },
    )
    through.on('error', () => answer.destroy())
    asked.pipe(through)
  })
