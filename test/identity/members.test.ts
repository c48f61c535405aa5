// Members of an account by the API: invitations, roles, removals, and what each role may not do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditList } from '#contract/accounts/audit.ts'
import {
  acceptedReply,
  INVITATIONS_MAX,
  invitedReply,
  memberList,
  memberReply,
  MEMBERS_MAX,
} from '#contract/accounts/members.ts'
import { ROLES, RIGHTS } from '#contract/identity/roles.ts'
import { newTokenReply, tokenList } from '#contract/identity/tokens.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import {
  accept,
  call,
  invite,
  join,
  mint,
  newAccount,
  problemOf,
  rolesOf,
  statusOf,
} from './member-calls.ts'

product(PLAIN)

test('a new account has an owner, whose tokens those of the operator are', async () => {
  const { owner, account } = await newAccount()
  const { data } = memberList.parse(await (await call(owner, 'members')).json())
  assert.deepEqual(
    data.map(({ name, role, state, current }) => [name, role, state, current]),
    [['owner', 'owner', 'active', true]],
  )
  const tokens = tokenList.parse(await (await call(owner, 'tokens')).json()).data
  assert.deepEqual(tokens[0]?.member, { id: data[0]?.id, name: 'owner' })
  const { member } = (await (await call(owner, 'account')).json()) as { member: object }
  assert.deepEqual(member, { id: data[0]?.id, name: 'owner', role: 'owner' })
  assert.deepEqual(await rolesOf(account), ['owner'])
})

test('an account that is being deleted gets no member and, once the removal began, no token', async () => {
  const { owner, account } = await newAccount()
  const invited = await invite(owner, { role: 'admin', name: 'Eve' })
  const asked = await call(owner, 'account', 'DELETE', { confirm: account })
  assert.equal(asked.status, 202)
  const refused = await accept(invited.invitation_code)
  assert.deepEqual(await problemOf(refused), [409, 'account_deleting'])
  const ergon = sharedErgon()
  // The operator may still help an owner who lost all tokens to take the deletion back.
  await ergon.control('token.create', { account, scope: 'billing-admin' })
  await ergon.sql('update account_deletions set begun_at = now() where account = $1', [account])
  await assert.rejects(ergon.control('token.create', { account, scope: 'read' }), /being deleted/)
  await ergon.sql(
    'update account_deletions set begun_at = null, due_at = now() where account = $1',
    [account],
  )
  await ergon.sql('select begin_deletion($1)', [account])
  const gone = await accept(invited.invitation_code)
  assert.deepEqual(await problemOf(gone), [404, 'invitation_not_found'])
  // As one that was made by a gateway of a version before.
  await ergon.sql('update tokens set revoked_at = null where account = $1', [account])
  const reader = await call(owner, 'members/me')
  assert.deepEqual(await problemOf(reader), [401, 'token_revoked'])
  await ergon.sql('select erase_account($1)', [account])
  const left = await ergon.sql('select from tokens where account = $1 and revoked_at is null', [
    account,
  ])
  assert.equal(left.length, 0)
})

test('an invitation is accepted once, and its member has a token of its role', async () => {
  const { owner, account } = await newAccount()
  const invited = await invite(owner, { role: 'developer', name: 'Ada', contact: 'desk 4' })
  const days = (Date.parse(invited.invitation_expires_at ?? '') - Date.now()) / 86_400_000
  assert.ok(days > 6.9 && days <= 7, `${days}`)
  const answer = await accept(invited.invitation_code)
  const accepted = acceptedReply.parse(await answer.json())
  assert.deepEqual(
    [answer.status, accepted.id, accepted.account, accepted.state, accepted.current],
    [201, invited.id, account, 'active', true],
  )
  assert.equal(accepted.first_token.scope, 'deploy')
  const again = await accept(invited.invitation_code)
  assert.deepEqual(await problemOf(again), [409, 'invitation_ended'])
  const { token } = accepted.first_token
  const me = memberReply.parse(await (await call(token, 'members/me')).json())
  assert.deepEqual([me.id, me.contact, me.invitation_expires_at], [invited.id, 'desk 4', null])
  const list = await (await call(token, 'members')).text()
  assert.ok(!list.includes('inv_') && !list.includes(token), 'a list has no secret')
  const log = auditList.parse(await (await call(token, 'audit')).json()).data
  assert.deepEqual(
    log.slice(0, 2).map(({ action, actor, target }) => [action, actor.member?.name, target]),
    [
      ['member.accept', 'Ada', invited.id],
      ['member.invite', 'owner', invited.id],
    ],
  )
  assert.ok(!JSON.stringify(log).includes('inv_'), 'the log has no secret')
})

test('a code that expired, was withdrawn or replaced, or is none, changes nothing', async () => {
  const { owner, account } = await newAccount()
  const expired = await invite(owner, { role: 'viewer' })
  await sharedErgon().sql(
    `update members set invitation_expires_at = now() where id = '${expired.id}'`,
  )
  assert.deepEqual(await problemOf(await accept(expired.invitation_code)), [
    409,
    'invitation_ended',
  ])
  const renewed = invitedReply.parse(
    await (await call(owner, `members/${expired.id}/invitation`, 'POST', {})).json(),
  )
  const replaced = await problemOf(await accept(expired.invitation_code))
  assert.deepEqual(replaced, [404, 'invitation_not_found'])
  const withdrawn = await call(owner, `members/${expired.id}`, 'DELETE')
  assert.equal(memberReply.parse(await withdrawn.json()).state, 'removed')
  assert.deepEqual(await problemOf(await accept(renewed.invitation_code)), [
    409,
    'invitation_ended',
  ])
  for (const path of [`members/${expired.id}`, 'members/mem_none'])
    assert.deepEqual(await problemOf(await call(owner, path, 'DELETE')), [404, 'member_not_found'])
  const other = `inv_${'a'.repeat(38)}`
  assert.deepEqual(await problemOf(await accept(other)), [404, 'invitation_not_found'])
  assert.deepEqual(await rolesOf(account), ['owner'])
})

test('each role holds and makes tokens up to its scope, and gives the roles of the table', async () => {
  const { owner } = await newAccount()
  for (const role of ROLES) {
    const { token, scope } = await join(owner, role)
    const { gives, scope: greatest } = RIGHTS[role]
    assert.equal(scope, greatest)
    for (const wanted of ['read', 'deploy', 'billing-admin'] as const) {
      const body = { name: wanted, scope: wanted }
      const answer = await call(token, 'tokens', 'POST', body)
      const isWithin = ROLES.some((one) => RIGHTS[one].scope === wanted) && within(wanted, greatest)
      if (isWithin) assert.equal(answer.status, 201, `${role} makes ${wanted}`)
      else assert.deepEqual(await problemOf(answer), [403, 'scope_missing'], `${role}: ${wanted}`)
    }
    for (const given of ROLES) {
      const answer = await call(token, 'members', 'POST', { name: 'new', role: given })
      const code = greatest === 'billing-admin' ? 'role_missing' : 'scope_missing'
      if (gives.includes(given)) assert.equal(answer.status, 201, `${role} gives ${given}`)
      else assert.deepEqual(await problemOf(answer), [403, code], `${role} gives ${given}`)
    }
  }
})
const within = (scope: string, greatest: string) =>
  ['read', 'deploy', 'billing-admin'].indexOf(scope) <=
  ['read', 'deploy', 'billing-admin'].indexOf(greatest)

test('an admin changes no owner and no admin, and makes nobody an owner', async () => {
  const { owner } = await newAccount()
  const [admin, other, developer] = [
    await join(owner, 'admin'),
    await join(owner, 'admin'),
    await join(owner, 'developer'),
  ]
  const { id: first } = memberReply.parse(await (await call(owner, 'members/me')).json())
  const refused = [403, 'role_missing']
  const change = (id: string, body: object) => call(admin.token, `members/${id}`, 'PATCH', body)
  for (const [id, body] of [
    [first, { role: 'viewer' }],
    [first, { name: 'x' }],
    [other.id, { role: 'viewer' }],
    [admin.id, { role: 'owner' }],
    [developer.id, { role: 'owner' }],
  ] as const)
    assert.deepEqual(await problemOf(await change(id, body)), refused, JSON.stringify([id, body]))
  for (const id of [first, other.id])
    assert.deepEqual(await problemOf(await call(admin.token, `members/${id}`, 'DELETE')), refused)
  const ownersToken = tokenList.parse(await (await call(owner, 'tokens')).json()).data.at(-1)
  const revoked = await call(admin.token, `tokens/${ownersToken?.id}`, 'DELETE')
  assert.deepEqual(await problemOf(revoked), refused)
  const rotated = await call(admin.token, `tokens/${developer.tokenId}/rotate`, 'POST', {})
  assert.deepEqual(await problemOf(rotated), [403, 'not_own_token'])
  assert.equal((await change(developer.id, { role: 'admin' })).status, 200)
  // From now on the developer is an admin, whom an admin does not change.
  assert.deepEqual(await problemOf(await change(developer.id, { role: 'viewer' })), refused)
  assert.deepEqual(
    [await statusOf(owner), await statusOf(other.token), await statusOf(developer.token)],
    [200, 200, 200],
  )
})

test('a demotion revokes the tokens above the new role at the next request, and no others', async () => {
  const { owner } = await newAccount()
  const { id, token } = await join(owner, 'developer')
  const read = await mint(token, { scope: 'read' })
  assert.deepEqual([await statusOf(token), await statusOf(read.token)], [200, 200])
  const answer = await call(owner, `members/${id}`, 'PATCH', { role: 'viewer' })
  assert.equal(memberReply.parse(await answer.json()).role, 'viewer')
  assert.deepEqual(await problemOf(await call(token, 'members/me')), [401, 'token_revoked'])
  assert.equal(await statusOf(read.token), 200)
  // It is the greatest scope of a viewer, so it makes tokens of its own from now on.
  const next = await mint(read.token, { scope: 'read' })
  assert.equal(next.member.id, id)
})

test('a removed member has no token any more, and a member who leaves reads the answer', async () => {
  const { owner } = await newAccount()
  const { id, token } = await join(owner, 'developer')
  const read = await mint(token, { scope: 'read' })
  assert.deepEqual(await problemOf(await call(read.token, 'members/me', 'DELETE')), [
    403,
    'scope_missing',
  ])
  const removed = await call(owner, `members/${id}`, 'DELETE')
  assert.equal(memberReply.parse(await removed.json()).state, 'removed')
  for (const one of [token, read.token])
    assert.deepEqual(await problemOf(await call(one, 'members/me')), [401, 'token_revoked'])
  const viewer = await join(owner, 'viewer')
  const left = memberReply.parse(await (await call(viewer.token, 'members/me', 'DELETE')).json())
  assert.deepEqual([left.id, left.state], [viewer.id, 'removed'])
  const late = await call(viewer.token, 'tokens', 'POST', { name: 'late' })
  assert.deepEqual(await problemOf(late), [401, 'token_revoked'])
})

test('the limits of a token below billing-admin are those of the tokens that it makes', async () => {
  const { owner } = await newAccount()
  const { token, tokenId } = await join(owner, 'developer')
  const other = await mint(token, { scope: 'deploy' })
  const limits = { requests_per_minute: 50, energy_budget: '5 kJ/day' }
  assert.equal((await call(owner, `tokens/${tokenId}`, 'PATCH', limits)).status, 200)
  const made = await mint(token, { scope: 'deploy' })
  assert.deepEqual([made.requests_per_minute, made.energy_budget], [50, '5 kJ/day'])
  for (const [path, method, body] of [
    ['tokens', 'POST', { name: 'x', requests_per_minute: 100 }],
    [`tokens/${tokenId}`, 'PATCH', { requests_per_minute: null }],
  ] as const)
    assert.deepEqual(await problemOf(await call(token, path, method, body)), [403, 'scope_missing'])
  const rotated = await call(token, `tokens/${other.id}/rotate`, 'POST', {})
  assert.deepEqual(await problemOf(rotated), [403, 'not_own_token'])
  const budgets = await sharedErgon().sql('select distinct budget from tokens where id = any($1)', [
    [tokenId, made.id],
  ])
  assert.equal(budgets.length, 1, 'they share one budget')
})

test('a token that a token below billing-admin makes does not outlive it', async () => {
  const { owner } = await newAccount()
  const { token, tokenId } = await join(owner, 'developer')
  const { data } = tokenList.parse(await (await call(owner, 'tokens')).json())
  const end = data.find(({ id }) => id === tokenId)?.expires_at
  assert.ok(typeof end === 'string')
  for (const more of [{}, { expires_days: 365 }])
    assert.equal((await mint(token, { scope: 'deploy', ...more })).expires_at, end)
  const earlier = await mint(token, { scope: 'read', expires_days: 1 })
  assert.ok(Date.parse(earlier.expires_at ?? '') < Date.parse(end))
  assert.equal((await mint(owner, { scope: 'read' })).expires_at, null)
})

test('a rotation and the tokens that it makes share the rate of a token below billing-admin', async () => {
  const { owner } = await newAccount()
  const { token, tokenId } = await join(owner, 'developer')
  const limit = { requests_per_minute: 8 }
  assert.equal((await call(owner, `tokens/${tokenId}`, 'PATCH', limit)).status, 200)
  const made = await mint(token, { scope: 'deploy' })
  const path = `tokens/${made.id}/rotate`
  const rotated = newTokenReply.parse(await (await call(made.token, path, 'POST', {})).json())
  const { headers } = await call(rotated.token, 'members/me')
  assert.match(headers.get('ratelimit') ?? '', /"token";r=5;/)
})

test('a promoted member gets a token of the new role by another code, once', async () => {
  const { owner } = await newAccount()
  const { id, token } = await join(owner, 'developer')
  assert.equal((await call(owner, `members/${id}`, 'PATCH', { role: 'owner' })).status, 200)
  const above = await call(token, 'tokens', 'POST', { name: 'x', scope: 'billing-admin' })
  assert.deepEqual(await problemOf(above), [403, 'scope_missing'])
  const renewed = invitedReply.parse(
    await (await call(owner, `members/${id}/invitation`, 'POST', { expires_days: 1 })).json(),
  )
  assert.equal(renewed.state, 'active')
  const joined = renewed.joined_at
  const answer = acceptedReply.parse(await (await accept(renewed.invitation_code)).json())
  assert.deepEqual(
    [answer.id, answer.first_token.scope, answer.joined_at, answer.invitation_expires_at],
    [id, 'billing-admin', joined, null],
  )
  const again = await problemOf(await accept(renewed.invitation_code))
  assert.deepEqual(again, [409, 'invitation_ended'])
  // The old owner may leave now: the account can still be managed.
  assert.equal((await call(owner, 'members/me', 'DELETE')).status, 200)
  const invited = await invite(answer.first_token.token, { role: 'admin' })
  assert.equal(invited.state, 'invited')
  assert.equal(await statusOf(token), 200)
})

test('a code ends with the role that it was made for', async () => {
  const { owner } = await newAccount()
  const admin = await join(owner, 'admin')
  const { id } = await join(owner, 'developer')
  const waiting = await invite(owner, { role: 'viewer' })
  const codes = [waiting.invitation_code]
  const renewed = await call(admin.token, `members/${id}/invitation`, 'POST', {})
  codes.push(invitedReply.parse(await renewed.json()).invitation_code)
  for (const member of [id, waiting.id]) {
    const answer = await call(owner, `members/${member}`, 'PATCH', { role: 'owner' })
    assert.equal(memberReply.parse(await answer.json()).invitation_expires_at, null)
  }
  for (const code of codes)
    assert.deepEqual(await problemOf(await accept(code)), [404, 'invitation_not_found'])
  const again = await call(owner, `members/${waiting.id}/invitation`, 'POST', {})
  const { invitation_code: code } = invitedReply.parse(await again.json())
  assert.equal((await accept(code)).status, 201)
})

test('an admin gives no code to an owner, and a code of a removed member is refused', async () => {
  const { owner } = await newAccount()
  const admin = await join(owner, 'admin')
  const { id: first } = memberReply.parse(await (await call(owner, 'members/me')).json())
  const refused = await call(admin.token, `members/${first}/invitation`, 'POST', {})
  assert.deepEqual(await problemOf(refused), [403, 'role_missing'])
  const { id } = await join(owner, 'viewer')
  const { invitation_code: code } = invitedReply.parse(
    await (await call(admin.token, `members/${id}/invitation`, 'POST', {})).json(),
  )
  assert.equal((await call(owner, `members/${id}`, 'DELETE')).status, 200)
  assert.deepEqual(await problemOf(await accept(code)), [409, 'invitation_ended'])
})

test('the last owner is neither removed nor demoted and does not leave', async () => {
  const { owner, account } = await newAccount()
  const admin = await join(owner, 'admin')
  await invite(owner, { role: 'owner' })
  for (const answer of [
    await call(owner, 'members/me', 'DELETE'),
    await call(owner, 'members/me', 'PATCH', { role: 'admin' }),
  ])
    assert.deepEqual(await problemOf(answer), [409, 'last_owner'])
  assert.equal((await call(owner, `members/${admin.id}`, 'PATCH', { role: 'owner' })).status, 200)
  assert.equal((await call(owner, 'members/me', 'DELETE')).status, 200)
  assert.deepEqual(await rolesOf(account), ['owner'])
  assert.deepEqual(await problemOf(await call(admin.token, 'members/me', 'DELETE')), [
    409,
    'last_owner',
  ])
})

test('the operator brings back an account whose owners lost their tokens', async () => {
  const ergon = sharedErgon()
  const { account } = await newAccount()
  const invited = await ergon.control('member.invite', { account, name: 'heir' })
  const { first_token: first } = acceptedReply.parse(
    await (await accept(invited.invitation_code)).json(),
  )
  assert.deepEqual(await rolesOf(account), ['owner', 'owner'])
  const log = auditList.parse(await (await call(first.token, 'audit?action=member.invite')).json())
  assert.deepEqual(
    log.data.map(({ actor, target }) => [actor.type, target]),
    [['operator', invited.id]],
  )
  await assert.rejects(
    ergon.control('member.invite', { account: 'acct_none', name: 'x' }),
    /no account/,
  )
})

test('an account has so many open invitations and members at most', async () => {
  const { owner, account } = await newAccount()
  const add = (state: string, from: number, to: number) =>
    sharedErgon().sql(
      `insert into members (id, account, name, role, state)
       select 'mem_' || lpad(n::text, 26, '0'), $1, 'many', 'viewer', $2 from generate_series($3::int, $4::int) n`,
      [account, state, from, to],
    )
  await add('invited', 2, INVITATIONS_MAX)
  const { id } = await invite(owner, { role: 'viewer' })
  const body = { name: 'one more', role: 'viewer' }
  const refused = [409, 'too_many_members']
  assert.deepEqual(await problemOf(await call(owner, 'members', 'POST', body)), refused)
  assert.equal((await call(owner, `members/${id}`, 'DELETE')).status, 200)
  await add('active', INVITATIONS_MAX + 1, MEMBERS_MAX - 1)
  assert.equal((await call(owner, 'members', 'POST', body)).status, 201)
  await sharedErgon().sql("update members set state = 'active' where account = $1", [account])
  assert.deepEqual(await problemOf(await call(owner, 'members', 'POST', body)), refused)
  const page = memberList.parse(await (await call(owner, 'members?limit=150')).json())
  const rest = memberList.parse(
    await (await call(owner, `members?limit=150&cursor=${page.next_cursor}`)).json(),
  )
  assert.equal(new Set([...page.data, ...rest.data].map((one) => one.id)).size, MEMBERS_MAX + 1)
})
