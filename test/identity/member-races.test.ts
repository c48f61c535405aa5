// Changes of members that race: whatever order they take, an account keeps an owner, and nobody has a token above the role.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RIGHTS, ROLES, type MemberRole } from '#contract/identity/roles.ts'
import { SCOPES } from '#contract/operation.ts'
import { createRandom } from '../faults/random.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { accept, call, invite, join, newAccount, problemOf, rolesOf } from './member-calls.ts'

product(PLAIN)

/** The ids of accounts without an owner, and of valid tokens above their role or without an active member. */
async function memberFaults(): Promise<string[]> {
  const above = ROLES.map((role) => {
    const scopes = SCOPES.slice(SCOPES.indexOf(RIGHTS[role].scope) + 1)
    return `m.role = '${role}' and t.scope in (${['none', ...scopes].map((one) => `'${one}'`).join()})`
  })
  const rows = await sharedErgon().sql<{ id: string }>(
    `select a.id from accounts a where a.id <> 'nobody' and not exists
       (select from members m where m.account = a.id and m.role = 'owner' and m.state = 'active')
     union all
     select t.id from tokens t join members m on m.id = t.member
     where t.revoked_at is null and (m.state <> 'active' or ${above.map((one) => `(${one})`).join(' or ')})`,
    [],
  )
  return rows.map(({ id }) => id)
}

test('one of two owners who demote each other stays', async () => {
  for (const role of ['admin', 'viewer'] as const) {
    const { owner, account } = await newAccount()
    const other = await join(owner, 'owner')
    const { id } = (await (await call(owner, 'members/me')).json()) as { id: string }
    const answers = await Promise.all([
      call(owner, `members/${other.id}`, 'PATCH', { role }),
      call(other.token, `members/${id}`, 'PATCH', { role }),
    ])
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, role === 'admin' ? 403 : 401])
    assert.deepEqual(
      await rolesOf(account),
      role === 'admin' ? ['admin', 'owner'] : ['owner', 'viewer'],
    )
  }
})

test('one of two owners who leave at once stays', async () => {
  const { owner, account } = await newAccount()
  const other = await join(owner, 'owner')
  const answers = await Promise.all(
    [owner, other.token].map((token) => call(token, 'members/me', 'DELETE')),
  )
  const [left, stays] = answers.toSorted((one, next) => one.status - next.status)
  assert.equal(left?.status, 200)
  assert.ok(stays !== undefined)
  assert.deepEqual(await problemOf(stays), [409, 'last_owner'])
  assert.deepEqual(await rolesOf(account), ['owner'])
})

test('one of 50 acceptances of one code wins', async () => {
  const { owner, account } = await newAccount()
  const { invitation_code: code, id } = await invite(owner, { role: 'developer' })
  const answers = await Promise.all(Array.from({ length: 50 }, () => acceptUntilHeard(code)))
  const won = answers.filter(([status]) => status === 201)
  const lost = answers.filter(([, title]) => title === 'invitation_ended')
  assert.deepEqual([won.length, lost.length], [1, 49])
  const tokens = await sharedErgon().sql('select from tokens where member = $1', [id])
  assert.equal(tokens.length, 1)
  assert.deepEqual(await rolesOf(account), ['developer', 'owner'])
})

/** Some acceptances at once are refused until others are done. */
async function acceptUntilHeard(code: string): Promise<[number, string]> {
  for (;;) {
    const [status, title] = await problemOf(await accept(code))
    if (title !== 'overloaded') return [status, title]
  }
}

test('a member who is removed while it makes and rotates tokens has none afterwards', async () => {
  const { owner } = await newAccount()
  for (let round = 0; round < 5; round++) {
    const { id, token, tokenId } = await join(owner, 'developer')
    const work = Array.from({ length: 8 }, (_, nth) =>
      nth % 4 === 3
        ? call(token, `tokens/${tokenId}/rotate`, 'POST', { overlap_s: 60 })
        : call(token, 'tokens', 'POST', { name: `t${nth}`, scope: 'deploy' }),
    )
    const end =
      round % 2 === 0
        ? call(owner, `members/${id}`, 'DELETE')
        : call(owner, `members/${id}`, 'PATCH', { role: 'viewer' })
    const [removed] = await Promise.all([end, ...work])
    assert.equal(removed.status, 200)
    assert.deepEqual(await memberFaults(), [])
  }
})

test('random changes at once by members of all roles keep an owner, and tokens within roles', async () => {
  const { owner } = await newAccount()
  const random = createRandom(7)
  const pick = <One>(list: readonly One[]): One => list[random.below(list.length)] as One
  const members = [await join(owner, 'owner'), await join(owner, 'owner')]
  for (const role of ROLES) members.push(await join(owner, role))
  const act = async (): Promise<void> => {
    const { token } = pick(members)
    const { id } = pick(members)
    const role: MemberRole = pick(ROLES)
    const kind = random.below(8)
    if (kind === 0) await call(token, `members/${id}`, 'DELETE')
    else if (kind < 4) await call(token, `members/${id}`, 'PATCH', { role })
    else if (kind < 6) await call(token, 'tokens', 'POST', { name: 't', scope: pick(SCOPES) })
    else if (kind === 6) await call(token, 'members/me', 'PATCH', { role })
    else
      await invite(token, { role }).then(
        (invited) => accept(invited.invitation_code),
        () => undefined,
      )
  }
  for (let burst = 0; burst < 12; burst++) {
    await Promise.all(Array.from({ length: 6 }, act))
    assert.deepEqual(await memberFaults(), [])
  }
})

test('the check of what holds finds an account without an owner and a token above its role', async () => {
  const { owner, account } = await newAccount()
  const { id } = await join(owner, 'developer')
  const ergon = sharedErgon()
  await ergon.sql("update members set role = 'viewer' where id = $1", [id])
  assert.equal((await memberFaults()).length, 1)
  await ergon.sql("update members set role = 'developer' where id = $1", [id])
  await ergon.sql("update members set state = 'removed' where account = $1 and role = 'owner'", [
    account,
  ])
  assert.ok((await memberFaults()).includes(account))
  await ergon.sql("update members set state = 'active' where account = $1 and role = 'owner'", [
    account,
  ])
  assert.deepEqual(await memberFaults(), [])
})
