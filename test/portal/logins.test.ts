// Logins of command lines, approved at the portal: with a redirect to this machine, and by a code that a person types. Where
// sign-up is by invitation, a link of the operator lets the first owner in.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newClient, signUpSoftly, type PortalClient } from './client.ts'

product(PLAIN, { ERGON_SIGN_UP: 'invite' })

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
    const again = await owner.ask('POST', `/v1/logins/${typed}/approve`, {})
    assert.deepEqual(codeOf(again), [404, 'login_not_found'])
    const made = await redeem(verifier)
    assert.equal(made.status, 201)
    const { token = '', scope, name } = made.body.token ?? {}
    assert.deepEqual([scope, name], ['read', 'command line on laptop'])
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await fetch(`${sharedErgon().baseUrl}/v1/balance`, { headers })).status, 200)
    assert.deepEqual(codeOf(await redeem(verifier)), [404, 'login_not_found'])
  })

  test('a wrong verifier gets nothing and ends the login', async () => {
    const { verifier, challenge } = pair()
    const { body } = await api('/v1/logins', { name: 'laptop', code_challenge: challenge })
    await owner.must(200, 'POST', `/v1/logins/${body['id']}/approve`, {})
    for (const text of [pair().verifier, verifier])
      assert.deepEqual(
        codeOf(await api(`/v1/logins/${body['id']}/token`, { code_verifier: text })),
        [404, 'login_not_found'],
      )
  })

  test('a redirect goes to this machine alone, and its code is needed too', async () => {
    const { verifier, challenge } = pair()
    const state = randomBytes(16).toString('base64url')
    const asked = { name: 'laptop', code_challenge: challenge, redirect_port: 54_321, state }
    const { body } = await api('/v1/logins', asked)
    assert.equal(body['approve_url'], `${owner.origin}/login/approve?login=${body['id']}`)
    const approved = await owner.must(200, 'POST', `/v1/logins/${body['id']}/approve`, {})
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
    await owner.must(200, 'POST', `/v1/logins/${body['id']}/approve`, {})
    const answer = await api(`/v1/logins/${body['id']}/token`, { code_verifier: verifier })
    assert.deepEqual(codeOf(answer), [404, 'login_not_found'])
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
