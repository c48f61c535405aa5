// The check of a caller for an operation, and the words in which a refusal says what is missing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationOf, type OperationName } from '#contract/operations.ts'
import { demandScope } from './principal.ts'

const DEVELOPER = { token: 'tok_1', role: 'developer', scope: 'read' } as const
const HOUR_MS = 3_600_000
const atPortal = {
  endsMs: HOUR_MS,
  idleUntilMs: HOUR_MS,
  touchedUntilMs: Number.MAX_SAFE_INTEGER,
  isLimited: false,
  isNew: false,
}

const ask = (
  caller: Parameters<typeof demandScope>[0],
  operation: OperationName,
  token = 'tok_other',
  nowMs = 0,
): void => demandScope(caller, operation, operationOf(operation), { parameters: { token }, nowMs })

test('a token of any scope may end itself alone', () => {
  assert.doesNotThrow(() => ask(DEVELOPER, 'token.revoke', 'tok_1'))
  assert.throws(() => ask(DEVELOPER, 'token.revoke'), /the token has scope "read"/)
  assert.throws(() => ask(DEVELOPER, 'token.rotate', 'tok_1'), /the token has scope "read"/)
})

test('a person at the portal reads of roles, and a program of scopes', () => {
  const person = { ...DEVELOPER, scope: 'deploy', session: atPortal } as const
  assert.throws(() => ask(person, 'member.invite'), {
    message:
      'Could not call member.invite: you are "developer", it is for a member of role owner or admin',
  })
  assert.throws(() => ask({ ...DEVELOPER, scope: 'deploy' }, 'member.invite'), {
    message:
      'Could not call member.invite: the token has scope "deploy", it needs "billing-admin", which a member of role owner or admin has',
    details: { scope: 'billing-admin', roles: 'owner or admin' },
  })
})

test('a member whose role has the scope reads of the scope alone', () => {
  assert.throws(() => ask({ ...DEVELOPER, role: 'admin' }, 'member.invite'), {
    message: 'Could not call member.invite: the token has scope "read", it needs "billing-admin"',
    details: { scope: 'billing-admin' },
  })
  assert.throws(() => ask(DEVELOPER, 'token.create'), {
    message: 'Could not call token.create: the token has scope "read", it needs "deploy"',
    details: { scope: 'deploy' },
  })
})

test('a touch is fresh until its end, and a token needs none', () => {
  const session = { ...atPortal, touchedUntilMs: 5000 }
  const owner = { token: 'tok_1', role: 'owner', scope: 'billing-admin' } as const
  const create = (caller: Parameters<typeof demandScope>[0], nowMs: number) =>
    ask(caller, 'token.create', 'tok_other', nowMs)
  assert.doesNotThrow(() => create({ ...owner, session }, 4999))
  assert.throws(() => create({ ...owner, session }, 5000), { code: 'touch_required' })
  assert.doesNotThrow(() => create(owner, 5000))
})

test('a session replaces no password of a registry and no limits of a token without a fresh touch', () => {
  const session = { ...atPortal, touchedUntilMs: 5000 }
  const owner = { token: 'tok_1', role: 'owner', scope: 'billing-admin', session } as const
  for (const operation of ['registry.login', 'token.update'] as const) {
    assert.throws(() => ask(owner, operation, 'tok_other', 5000), { code: 'touch_required' })
    assert.doesNotThrow(() => ask(owner, operation, 'tok_other', 4999))
  }
})

test('a suspended account, and one that is being deleted, deletes nothing that the operator may look at', () => {
  const owner = { token: 'tok_1', role: 'owner', scope: 'billing-admin' } as const
  for (const operation of ['database.delete', 'function.delete', 'workload.suspend'] as const) {
    assert.doesNotThrow(() => ask(owner, operation))
    const suspended = { ...owner, suspendedFor: 'spam' }
    assert.throws(() => ask(suspended, operation), { code: 'account_suspended' })
    assert.throws(() => ask({ ...owner, isDeleting: true }, operation), {
      code: 'account_deleting',
    })
  }
})
