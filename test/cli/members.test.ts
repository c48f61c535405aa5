// Members by the command line: invited, accepted, changed, removed, and one who leaves; and the operator's way back in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  AcceptedReply,
  InvitedReply,
  MemberList,
  MemberReply,
} from '#contract/accounts/members.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { commandLine } from './command-line.ts'

product(PLAIN)
const { run } = commandLine()

/** Runs commands with a token; an empty one: without. */
const as =
  (token: string) =>
  (...words: string[]) =>
    run(words, { env: { ERGON_TOKEN: token.trim() } })
const nobody = as('')

async function newOwner() {
  const { id: account } = await sharedErgon().control('account.create', {})
  const { token } = await sharedErgon().control('token.create', { account, scope: 'billing-admin' })
  return { account, owner: as(token) }
}

test('a member is invited, accepts without a token, is changed and removed', async () => {
  const { owner } = await newOwner()
  const invited = await owner('members', 'invite', 'Ada', '--role', 'developer', '--expires', '12h')
  assert.match(invited.stdout, /^inv_[0-9A-Za-z]{38}\n$/, invited.stderr)
  const list = JSON.parse((await owner('members', 'list', '--json')).stdout) as MemberList
  const { id = '', state } = list.data[0] ?? {}
  assert.equal(state, 'invited')
  const again = await owner('members', 'invite', id, '--again', '--json')
  const { invitation_code: code } = JSON.parse(again.stdout) as InvitedReply
  assert.match((await nobody('members', 'accept', invited.stdout.trim())).stderr, /no such code/)
  const accepted = await nobody('members', 'accept', code)
  assert.match(accepted.stdout, /^svc_[0-9A-Za-z]{38}\n$/, accepted.stderr)
  const ada = as(accepted.stdout)
  assert.match((await ada('account')).stdout, new RegExp(`you are +Ada, developer \\(${id}\\)`))
  assert.match((await ada('members', 'list')).stdout, /Ada +developer +active \(you\)/)
  const refused = await ada('members', 'invite', 'Bob')
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  const set = await owner('members', 'set', id, '--role', 'admin', '--contact', 'desk 4')
  assert.match(set.stderr, /is Ada, role admin/)
  const none = await owner('members', 'set', id, '--contact', 'none', '--json')
  assert.equal((JSON.parse(none.stdout) as MemberReply).contact, null)
  assert.equal((await owner('members', 'set', id)).code, 2)
  assert.match((await owner('members', 'remove', id)).stderr, /is removed/)
  assert.equal((await ada('members', 'list')).code, 4)
  assert.doesNotMatch((await owner('members', 'list')).stdout, /Ada/)
  assert.match((await owner('members', 'list', '--all')).stdout, /Ada/)
  assert.match((await owner('audit', '--limit', '1')).stdout, /owner, token .* member\.remove/)
})

test('the operator invites a new owner, and the one of before leaves', async () => {
  const { account, owner } = await newOwner()
  const alone = await owner('members', 'leave')
  assert.match(alone.stderr, /is the only owner/)
  const invited = await nobody('admin', 'member', 'invite', account, 'heir')
  assert.match(invited.stdout, /^inv_/, invited.stderr)
  const accepted = await nobody('members', 'accept', invited.stdout.trim(), '--json')
  const { role, first_token: first } = JSON.parse(accepted.stdout) as AcceptedReply
  assert.deepEqual([role, first.scope], ['owner', 'billing-admin'])
  assert.match((await owner('members', 'leave')).stderr, /has left/)
  assert.equal((await owner('members', 'list')).code, 4)
  const wrong = await nobody('admin', 'member', 'invite', account, 'x', '--role', 'king')
  assert.equal(wrong.code, 2)
})
