// The audit log: each change with its author, in the order of the changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditList } from '#contract/accounts/audit.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const call = (token: string, path: string, method = 'GET', body?: object) =>
  fetch(`${sharedErgon().baseUrl}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const logOf = async (token: string, query = '') =>
  auditList.parse(await (await call(token, `audit${query}`)).json())

test('each change is there once, with who made it; a refused change is not there', async () => {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', {})
  const owner = await ergon.control('token.create', {
    account,
    scope: 'billing-admin',
    name: 'owner',
  })
  const made = (await (await call(owner.token, 'tokens', 'POST', { name: 'ci' })).json()) as {
    id: string
    token: string
  }
  const refused = await call(made.token, 'tokens', 'POST', { name: 'more' })
  assert.equal(refused.status, 403)
  assert.equal((await call(owner.token, 'tokens', 'POST', { name: '' })).status, 400)
  const rotated = await call(owner.token, `tokens/${made.id}/rotate`, 'POST', {})
  const { id: next } = (await rotated.json()) as { id: string }
  await call(owner.token, `tokens/${next}`, 'DELETE')
  await ergon.control('account.set', { account, refuse_token_presign: true })
  const { data } = await logOf(owner.token)
  const [{ id: member } = { id: '' }] = await ergon.sql<{ id: string }>(
    'select id from members where account = $1',
    [account],
  )
  const by = { type: 'token', id: owner.id, name: 'owner', member: { id: member, name: 'owner' } }
  const operator = { type: 'operator', id: null, name: null, member: null }
  assert.deepEqual(
    data.map(({ action, actor, target }) => [action, actor, target]),
    [
      ['account.set', operator, account],
      ['token.revoke', by, next],
      ['token.rotate', by, made.id],
      ['token.create', by, made.id],
      ['token.create', operator, owner.id],
    ],
  )
  assert.equal(data[2]?.request_id, rotated.headers.get('x-request-id'))
  assert.deepEqual(data[2]?.details, { replaced_by: next, overlap_s: 0 })
  const text = JSON.stringify(data)
  assert.ok(!text.includes('svc_'), 'no secret')
  const own = await logOf(owner.token, `?action=token.rotate&target=${made.id}`)
  assert.equal(own.data.length, 1)
  const [page, rest] = [await logOf(owner.token, '?limit=3'), await logOf(owner.token, '?limit=4')]
  const after = await logOf(owner.token, `?limit=3&cursor=${page.next_cursor}`)
  assert.deepEqual([page.data.length, rest.data.length, after.data.length], [3, 4, 2])
})

test('an entry keeps the name of its time, and a removal says who was removed', async () => {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', {})
  const { token } = await ergon.control('token.create', { account, scope: 'billing-admin' })
  const invited = { name: 'Ada', role: 'viewer' }
  const ada = (await (await call(token, 'members', 'POST', invited)).json()) as { id: string }
  await call(token, 'members/me', 'PATCH', { name: 'Grace' })
  await call(token, `members/${ada.id}`, 'DELETE')
  const { data } = await logOf(token)
  assert.deepEqual(
    data.slice(0, 3).map(({ action, actor }) => [action, actor.member?.name]),
    [
      ['member.remove', 'Grace'],
      ['member.update', 'owner'],
      ['member.invite', 'owner'],
    ],
  )
  assert.deepEqual(data[0]?.details, { ...invited, state: 'invited' })
})

test('another account does not see it, and `ergon audit` shows it', async () => {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', {})
  const { token } = await ergon.control('token.create', { account, name: 'other' })
  const { data } = await logOf(token)
  assert.deepEqual(
    data.map(({ details }) => details['name']),
    ['other'],
  )
  const shown = await ergon.cli('audit', '--action', 'token.create', '--limit', '5')
  assert.equal(shown.code, 0, shown.stderr)
  assert.match(shown.stdout, /WHEN +BY +ACTION +OF +DETAILS\n.*the operator +token\.create +tok_/)
  assert.ok(!shown.stdout.includes(account))
})
