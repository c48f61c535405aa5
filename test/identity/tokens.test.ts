// Tokens that an account makes, rotates and revokes by itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { ACCOUNT_TOKENS_MAX } from '#contract/identity/token-limits.ts'
import {
  newTokenReply,
  rotatedTokenReply,
  tokenList,
  tokenReply,
} from '#contract/identity/tokens.ts'

product(PLAIN)

const call = (token: string, path = '', method = 'GET', body?: object) =>
  fetch(`${sharedErgon().baseUrl}/v1/tokens${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

async function problemOf(answer: Response): Promise<[number, string]> {
  const { title } = (await answer.json()) as { title: string }
  return [answer.status, title]
}

/** A token of a new account that may do everything. */
async function ownerToken(): Promise<string> {
  const { id: account } = await sharedErgon().control('account.create', {})
  const { token } = await sharedErgon().control('token.create', { account, scope: 'billing-admin' })
  return token
}

const make = async (owner: string, body: object) =>
  newTokenReply.parse(await (await call(owner, '', 'POST', { name: 'ci', ...body })).json())

const statusOf = async (token: string) => (await call(token)).status

test('a token is made with a scope and an expiry, and its secret is shown once', async () => {
  const owner = await ownerToken()
  const made = await make(owner, { scope: 'deploy', expires_days: 90 })
  assert.equal(made.status, 'valid')
  assert.ok(made.token.startsWith(made.hint))
  const days = (Date.parse(made.expires_at ?? '') - Date.now()) / 86_400_000
  assert.ok(days > 89 && days <= 90, `${days}`)
  const text = await (await call(made.token)).text()
  assert.ok(!text.includes(made.token) && !text.includes(owner), 'a list has no secret')
  const list = tokenList.parse(JSON.parse(text))
  assert.deepEqual(
    list.data.map(({ scope, current }) => [scope, current]),
    [
      ['deploy', true],
      ['billing-admin', false],
    ],
  )
  assert.deepEqual(await problemOf(await call(made.token, '', 'POST', { name: 'x' })), [
    403,
    'scope_missing',
  ])
})

test('a rotated token is not honoured when the answer comes, and its successor is', async () => {
  const owner = await ownerToken()
  const made = await make(owner, { scope: 'deploy' })
  assert.equal(await statusOf(made.token), 200)
  const answer = await call(owner, `/${made.id}/rotate`, 'POST', {})
  const next = rotatedTokenReply.parse(await answer.json())
  assert.deepEqual(
    [next.name, next.scope, next.replaces.id, next.replaces.status],
    ['ci', 'deploy', made.id, 'revoked'],
  )
  assert.deepEqual([await statusOf(made.token), await statusOf(next.token)], [401, 200])
  const again = await call(owner, `/${made.id}/rotate`, 'POST', {})
  assert.deepEqual(await problemOf(again), [404, 'token_not_found'])
})

test('a rotated token keeps its expiry', async () => {
  const owner = await ownerToken()
  const made = await make(owner, { expires_days: 3 })
  const answer = await call(owner, `/${made.id}/rotate`, 'POST', {})
  assert.equal(rotatedTokenReply.parse(await answer.json()).expires_at, made.expires_at)
})

test('with an overlap both are honoured until the old one expires', async () => {
  const owner = await ownerToken()
  const made = await make(owner, {})
  const answer = await call(owner, `/${made.id}/rotate`, 'POST', { overlap_s: 1 })
  const next = rotatedTokenReply.parse(await answer.json())
  assert.deepEqual([await statusOf(made.token), await statusOf(next.token)], [200, 200])
  const endMs = Date.parse(next.replaces.expires_at ?? '')
  while (Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(await problemOf(await call(made.token)), [401, 'token_expired'])
})

test('a token that rotates or revokes itself reads the answer, and is refused from then on', async () => {
  const owner = await ownerToken()
  const [{ id } = { id: '' }] = tokenList.parse(await (await call(owner)).json()).data
  const answer = await call(owner, `/${id}/rotate`, 'POST', {})
  const next = rotatedTokenReply.parse(await answer.json())
  assert.equal(next.replaces.status, 'revoked')
  assert.deepEqual(await problemOf(await call(owner)), [401, 'token_revoked'])
  const ended = await call(next.token, `/${next.id}`, 'DELETE')
  assert.equal(tokenReply.parse(await ended.json()).status, 'revoked')
  // A thief of the token makes no other token with it.
  const late = await call(next.token, '', 'POST', { name: 'late', scope: 'billing-admin' })
  assert.deepEqual(await problemOf(late), [401, 'token_revoked'])
})

test('a token of a small scope ends itself, and no other one', async () => {
  const owner = await ownerToken()
  const [one, other] = [await make(owner, { scope: 'read' }), await make(owner, { scope: 'read' })]
  const refused = await call(one.token, `/${other.id}`, 'DELETE')
  assert.deepEqual(await problemOf(refused), [403, 'scope_missing'])
  const ended = await call(one.token, `/${one.id}`, 'DELETE')
  assert.equal(tokenReply.parse(await ended.json()).status, 'revoked')
  assert.deepEqual([await statusOf(one.token), await statusOf(other.token)], [401, 200])
})

test('a token of another account is not found, and goes on', async () => {
  const [owner, other] = [await ownerToken(), await ownerToken()]
  const made = await make(owner, {})
  for (const refused of [
    await call(other, `/${made.id}`, 'DELETE'),
    await call(other, `/${made.id}/rotate`, 'POST', {}),
  ])
    assert.deepEqual(await problemOf(refused), [404, 'token_not_found'])
  assert.equal(await statusOf(made.token), 200)
})

test('pages of the list follow each other without a gap', async () => {
  const owner = await ownerToken()
  for (let nth = 0; nth < 4; nth++) await make(owner, { name: `t${nth}` })
  const names: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = tokenList.parse(
      await (await call(owner, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)).json(),
    )
    names.push(...page.data.map(({ name }) => name))
    cursor = page.next_cursor
  }
  assert.deepEqual(names.slice(0, 4), ['t3', 't2', 't1', 't0'])
  assert.equal(names.length, 5)
  assert.deepEqual(await problemOf(await call(owner, '?limit=0')), [400, 'invalid_request'])
})

test('an account has so many valid tokens at most', async () => {
  const { id: account } = await sharedErgon().control('account.create', {})
  const { token } = await sharedErgon().control('token.create', { account, scope: 'billing-admin' })
  await sharedErgon().sql(
    `insert into tokens (id, account, member, hash, hint, name, scope)
     select 'tok_many' || n, m.account, m.id, sha256(convert_to(n || m.account, 'UTF8')), '', 'many', 'read'
     from generate_series(2, $2::int) n, members m where m.account = $1`,
    [account, ACCOUNT_TOKENS_MAX],
  )
  const refused = await call(token, '', 'POST', { name: 'one more' })
  assert.deepEqual(await problemOf(refused), [409, 'too_many_tokens'])
  const beside = await call(token, '/tok_many3/rotate', 'POST', { overlap_s: 60 })
  assert.deepEqual(await problemOf(beside), [409, 'too_many_tokens'])
  assert.equal((await call(token, '/tok_many3/rotate', 'POST', {})).status, 201)
  assert.equal((await call(token, '/tok_many2', 'DELETE')).status, 200)
  assert.equal((await call(token, '', 'POST', { name: 'one more' })).status, 201)
})
