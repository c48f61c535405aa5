// Logins of command lines, approved at the portal: with a redirect to this machine, and by a code that a person types. Where
// sign-up is by invitation, a link of the operator lets the first owner in. Two gateways answer.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { ACCOUNT_TOKENS_MAX } from '#contract/identity/token-limits.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN, TWO_GATEWAYS } from '../settings.ts'
import { newClient, signUpSoftly, type PortalClient } from './client.ts'

product(PLAIN, { ...TWO_GATEWAYS, ERGON_SIGN_UP: 'invite' })

describe('logins of command lines', () => {
  let owner: PortalClient
  before(async () => {
    const ergon = sharedErgon()
    const { url } = await ergon.control('member.recover', { target: ergon.account })
    owner = newClient(ergon)
    await signUpSoftly(owner, { invitation: url.split('#')[1] ?? '' })
  })

  const api = async (path: string, body: object) => {
    const answer = await fetch(`${sharedErgon().baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as PortalBody }
  }
  type PortalBody = Record<string, string> & { readonly error?: { readonly code: string } } & {
    readonly token?: { readonly token: string; readonly scope: string; readonly name: string }
  }
  const pair = () => {
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    return { verifier, challenge }
  }
  const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
    status,
    body.error?.code,
  ]

  test('the first owner comes in by a link of the operator, and nobody without an invitation', async () => {
    const ergon = sharedErgon()
    const session = await owner.must(200, 'GET', '/v1/session')
    assert.deepEqual([session['account_id'], session['is_operator']], [ergon.account, true])
    const answer = await newClient(ergon).ask('POST', '/v1/sign-up/options', { name: 'stranger' })
    assert.deepEqual(codeOf(answer), [403, 'sign_up_closed'])
    await assert.rejects(ergon.control('member.recover', { target: 'acct_none' }), /find/)
    const { stdout } = await ergon.cli('admin', 'recover', ergon.account)
    assert.match(stdout, /^http:\/\/portal\.localhost:\d+\/sign-up#inv_\w{38}\n$/)
  })

  test('a link for a passkey gives no token, and is not used up by the try', async () => {
    const ergon = sharedErgon()
    const { id: account } = await ergon.control('account.create', {})
    const { url } = await ergon.control('member.recover', { target: account })
    const code = url.split('#')[1] ?? ''
    const member = newClient(ergon)
    const refused = await api('/v1/members/accept', { code })
    assert.deepEqual(codeOf(refused), [404, 'invitation_not_found'])
    await signUpSoftly(member, { invitation: code })
    const approval = await member.must(201, 'POST', '/v1/device-approvals')
    const again = await api('/v1/members/accept', { code: approval['code'] ?? '' })
    assert.deepEqual(codeOf(again), [404, 'invitation_not_found'])
  })

  test('a code that a person types gives one token, to the holder of the verifier alone', async () => {
    const { verifier, challenge } = pair()
    const begun = await api('/v1/logins', { name: 'laptop', code_challenge: challenge })
    assert.equal(begun.status, 201)
    const { id = '', user_code: userCode = '', approve_url: approveUrl = '' } = begun.body
    assert.equal(approveUrl, `${owner.origin}/login/approve`)
    const redeem = (text: string) => api(`/v1/logins/${id}/token`, { code_verifier: text })
    assert.deepEqual(codeOf(await redeem(verifier)), [409, 'login_pending'])
    const typed = userCode.toLowerCase().replace('-', '')
    const shown = await owner.must(200, 'GET', `/v1/logins/${typed}`)
    assert.deepEqual([shown['name'], shown['address']], ['laptop', '127.0.0.1'])
    const approved = await owner.must(200, 'POST', `/v1/logins/${typed}/approve`, {
      scope: 'read',
    })
    assert.equal(approved['redirect_url'], null)
    const again = await owner.ask('POST', `/v1/logins/${typed}/approve`, { scope: 'read' })
    assert.deepEqual(codeOf(again), [404, 'login_not_found'])
    const made = await redeem(verifier)
    assert.equal(made.status, 201)
    const { token = '', scope, name } = made.body.token ?? {}
    assert.deepEqual([scope, name], ['read', 'command line on laptop'])
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await fetch(`${sharedErgon().baseUrl}/v1/balance`, { headers })).status, 200)
    assert.deepEqual(codeOf(await redeem(verifier)), [404, 'login_not_found'])
  })

  test('a link approves no login of a device, a code none with a redirect, and none without a scope', async () => {
    const { challenge } = pair()
    const device = await api('/v1/logins', { name: 'laptop', code_challenge: challenge })
    const redirect = { redirect_port: 54_321, state: 'a'.repeat(16) }
    const asked = { name: 'laptop', code_challenge: challenge, ...redirect }
    const browser = await api('/v1/logins', asked)
    for (const name of [device.body['id'], browser.body['user_code']]) {
      const found = await owner.ask('GET', `/v1/logins/${name}`)
      assert.deepEqual(codeOf(found), [404, 'login_not_found'])
      const approved = await owner.ask('POST', `/v1/logins/${name}/approve`, { scope: 'read' })
      assert.deepEqual(codeOf(approved), [404, 'login_not_found'])
    }
    const empty = await owner.ask('POST', `/v1/logins/${device.body['user_code']}/approve`, {})
    assert.deepEqual(codeOf(empty), [400, 'invalid_request'])
    const waiting = await owner.must(200, 'GET', `/v1/logins/${device.body['user_code']}`)
    assert.equal(waiting['scope'], null)
  })

  test('a scope that the command line proposes is shown, and gives nothing by itself', async () => {
    const { verifier, challenge } = pair()
    const proposed = { name: 'laptop', code_challenge: challenge, scope: 'billing-admin' }
    const { body } = await api('/v1/logins', proposed)
    const shown = await owner.must(200, 'GET', `/v1/logins/${body['user_code']}`)
    assert.equal(shown['scope'], 'billing-admin')
    const early = await api(`/v1/logins/${body['id']}/token`, { code_verifier: verifier })
    assert.deepEqual(codeOf(early), [409, 'login_pending'])
    const approve = `/v1/logins/${body['user_code']}/approve`
    await owner.must(200, 'POST', approve, { scope: 'read' })
    const made = await api(`/v1/logins/${body['id']}/token`, { code_verifier: verifier })
    assert.equal(made.body.token?.scope, 'read')
    const wrong = await api('/v1/logins', { ...proposed, scope: 'all' })
    assert.deepEqual(codeOf(wrong), [400, 'invalid_request'])
  })

  test('a wrong verifier gets nothing and ends the login', async () => {
    const { verifier, challenge } = pair()
    const { body } = await api('/v1/logins', { name: 'laptop', code_challenge: challenge })
    const approve = `/v1/logins/${body['user_code']}/approve`
    await owner.must(200, 'POST', approve, { scope: 'read' })
    for (const text of [pair().verifier, verifier])
      assert.deepEqual(
        codeOf(await api(`/v1/logins/${body['id']}/token`, { code_verifier: text })),
        [404, 'login_not_found'],
      )
  })

  test('upkeep removes what has ended, and nothing else', async () => {
    const ergon = sharedErgon()
    const counts = async () =>
      (
        await ergon.sql(
          `select (select count(*) from passkey_challenges where challenge like 'upkeep-%') as challenges,
             (select count(*) from command_logins where name = 'upkeep') as logins`,
        )
      )[0]
    for (const [n, age] of [
      ['1', '-1 second'],
      ['2', '1 hour'],
    ]) {
      await ergon.sql(
        `insert into passkey_challenges (challenge, browser, kind, facts, expires_at, asker)
         values ($1, '', 'touch', '{}', now() + $2::interval, '')`,
        [`upkeep-${n}`, age],
      )
      await ergon.sql(
        `insert into command_logins (id, user_code, code_challenge, name, address, expires_at, asker)
         values ($1, $1, '', 'upkeep', '', now() + $2::interval, '')`,
        [`upkeep-${n}`, age],
      )
    }
    await ergon.sql('select portal_upkeep(1000)')
    assert.deepEqual(await counts(), { challenges: '1', logins: '1' })
    await owner.must(200, 'GET', '/v1/session')
  })

  test('a login that has ended is neither shown nor approved, and one that was approved gives no token', async () => {
    const ergon = sharedErgon()
    const end = (id = '') =>
      ergon.sql(
        "update command_logins set expires_at = now() - interval '1 second' where id = $1",
        [id],
      )
    const gone = [404, 'login_not_found']
    const redirect = { redirect_port: 54_321, state: 'a'.repeat(16) }
    for (const more of [{}, redirect]) {
      const { verifier, challenge } = pair()
      const asked = { name: 'laptop', code_challenge: challenge, ...more }
      const { body } = await api('/v1/logins', asked)
      const { id = '', user_code: code = '' } = body
      const path = `/v1/logins/${'state' in more ? id : code}`
      await owner.must(200, 'GET', path)
      await end(id)
      assert.deepEqual(codeOf(await owner.ask('GET', path)), gone)
      const approved = await owner.ask('POST', `${path}/approve`, { scope: 'read' })
      assert.deepEqual(codeOf(approved), gone)
      const redeemed = await api(`/v1/logins/${id}/token`, { code_verifier: verifier })
      assert.deepEqual(codeOf(redeemed), gone)
    }
    const { verifier, challenge } = pair()
    const { body } = await api('/v1/logins', { name: 'laptop', code_challenge: challenge })
    await owner.must(200, 'POST', `/v1/logins/${body['user_code']}/approve`, { scope: 'read' })
    await end(body['id'])
    const redeemed = await api(`/v1/logins/${body['id']}/token`, { code_verifier: verifier })
    assert.deepEqual(codeOf(redeemed), gone)
  })

  /** A login that a member has approved: its redemption. */
  async function approvedLogin(by: PortalClient, scope: string) {
    const { verifier, challenge } = pair()
    const { body } = await api('/v1/logins', { name: 'laptop', code_challenge: challenge })
    await by.must(200, 'POST', `/v1/logins/${body['user_code']}/approve`, { scope })
    return () => api(`/v1/logins/${body['id']}/token`, { code_verifier: verifier })
  }
  const newOwner = async () => {
    const ergon = sharedErgon()
    const { id: account } = await ergon.control('account.create', {})
    const { url } = await ergon.control('member.recover', { target: account })
    const client = newClient(ergon)
    await signUpSoftly(client, { invitation: url.split('#')[1] ?? '' })
    return { client, account }
  }

  test('a login whose token cannot be made is not lost', async () => {
    const ergon = sharedErgon()
    const { client, account } = await newOwner()
    const redeem = await approvedLogin(client, 'read')
    await ergon.sql(
      `insert into tokens (id, account, member, hash, hint, name, scope)
       select 'tok_planted' || n, account, member, decode(md5('planted' || n), 'hex'), '', 'planted', 'read'
       from generate_series(1, $2::int) n,
         (select account, member from tokens where account = $1 limit 1) one`,
      [account, ACCOUNT_TOKENS_MAX],
    )
    assert.deepEqual(codeOf(await redeem()), [409, 'too_many_tokens'])
    await ergon.sql("delete from tokens where account = $1 and name = 'planted'", [account])
    assert.equal((await redeem()).status, 201)
    assert.deepEqual(codeOf(await redeem()), [404, 'login_not_found'])
  })

  test('a login gives no more than the role of its member at that time', async () => {
    const ergon = sharedErgon()
    const { client, account } = await newOwner()
    const asked = { name: 'Bob', role: 'developer' }
    const invited = await client.must(201, 'POST', '/v1/members', asked)
    const bob = newClient(ergon)
    await signUpSoftly(bob, { invitation: String(invited['invitation_code']) })
    const lowered = await approvedLogin(bob, 'deploy')
    const removed = await approvedLogin(bob, 'read')
    const path = `/v1/members/${String(invited['id'])}`
    await client.must(200, 'PATCH', path, { role: 'viewer' })
    assert.deepEqual(codeOf(await lowered()), [404, 'login_not_found'])
    await client.must(200, 'DELETE', path)
    assert.deepEqual(codeOf(await removed()), [404, 'login_not_found'])
    const made = await ergon.sql('select id from tokens where account = $1 and not is_session', [
      account,
    ])
    assert.deepEqual(made, [])
  })

  test('a redirect goes to this machine alone, and its code is needed too', async () => {
    const { verifier, challenge } = pair()
    const state = randomBytes(16).toString('base64url')
    const asked = { name: 'laptop', code_challenge: challenge, redirect_port: 54_321, state }
    const { body } = await api('/v1/logins', asked)
    assert.equal(body['approve_url'], `${owner.origin}/login/approve?login=${body['id']}`)
    const approved = await owner.must(200, 'POST', `/v1/logins/${body['id']}/approve`, {
      scope: 'read',
    })
    const url = new URL(String(approved['redirect_url']))
    assert.equal(url.origin + url.pathname, 'http://127.0.0.1:54321/callback')
    assert.equal(url.searchParams.get('state'), state)
    const redeem = { code_verifier: verifier, code: url.searchParams.get('code') }
    assert.equal((await api(`/v1/logins/${body['id']}/token`, redeem)).status, 201)
  })

  test('a redirect without its code is nobody', async () => {
    const { verifier, challenge } = pair()
    const state = randomBytes(16).toString('base64url')
    const asked = { name: 'laptop', code_challenge: challenge, redirect_port: 54_321, state }
    const { body } = await api('/v1/logins', asked)
    await owner.must(200, 'POST', `/v1/logins/${body['id']}/approve`, { scope: 'read' })
    const answer = await api(`/v1/logins/${body['id']}/token`, { code_verifier: verifier })
    assert.deepEqual(codeOf(answer), [404, 'login_not_found'])
  })

  test('no redirect goes to a port of the service itself, whose logs would have the code', async () => {
    const { port, ready } = sharedErgon()
    const { challenge } = pair()
    // API and storage, portal, ingress, the one kept, status page, databases.
    for (const own of [0, 1, 2, 3, 4]
      .map((beside) => port + beside)
      .concat(Number(ready['db_port']))) {
      const asked = { name: 'laptop', code_challenge: challenge, state: 'a'.repeat(16) }
      const { status, body } = await api('/v1/logins', { ...asked, redirect_port: own })
      const { error } = body as { error?: { message?: string; param?: string } }
      assert.equal(status, 400, String(own))
      assert.match(error?.message ?? '', new RegExp(`: port ${own} is one of this service, and`))
      assert.equal(error?.param, 'redirect_port')
    }
  })

  test('no address of a redirect can be chosen', async () => {
    const { challenge } = pair()
    for (const wrong of [
      { redirect_uri: 'https://evil.example' },
      { redirect_port: '80@evil.example', state: 'a'.repeat(16) },
      { redirect_port: 22, state: 'a'.repeat(16) },
      { redirect_port: 54_321 },
      { redirect_port: 54_321, state: 'a&code=x' },
    ])
      assert.deepEqual(
        codeOf(await api('/v1/logins', { name: 'laptop', code_challenge: challenge, ...wrong })),
        [400, 'invalid_request'],
      )
  })
})
