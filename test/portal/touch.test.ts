// Operations that make a secret, show one, run other code with one, spend money or change who may: a session needs a fresh
// touch for each of them.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { OPERATIONS } from '#contract/operations.ts'
import type { Operation } from '#contract/operation.ts'
import { ROUTES } from '#contract/routes.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { endTouch, newClient, signUpSoftly, type PortalClient } from './client.ts'

/** The list stands here once more: an operation that leaves the contract's list must leave this one too. */
const TOUCHED = [
  'account.delete',
  'account.update',
  'database-role.create',
  'database-role.rotate',
  'database.url',
  'deployment.create',
  'device-approval.create',
  'function.deploy',
  'function.rollback',
  'login.approve',
  'member.invite',
  'member.reinvite',
  'member.remove',
  'member.update',
  'operator-account.resume',
  'operator-account.suspend',
  'operator-alarm.acknowledge',
  'operator-incident.close',
  'operator-incident.open',
  'operator-incident.update',
  'passkey.add',
  'passkey.begin',
  'passkey.remove',
  'payment-method.create',
  'payment-method.delete',
  'recovery-codes.renew',
  'registry.login',
  'token.create',
  'token.rotate',
  'token.update',
  'topup.create',
  'topup.refund',
  'webhook.create',
  'webhook.rotate',
  'webhook.update',
  'workload.deploy',
  'workload.rollback',
  'workload.update',
]

product(PLAIN)

describe('a fresh touch', () => {
  let ada: PortalClient
  let member: string
  before(async () => {
    ada = newClient(sharedErgon())
    const { member_id } = await signUpSoftly(ada, { name: 'touch' })
    member = member_id
  })
  const touched = ROUTES.filter(({ operation }) => {
    const { needsTouch }: Operation = OPERATIONS[operation]
    return needsTouch === true
  })
  const codesOf = async () => {
    const codes = new Map<string, string | undefined>()
    for (const { method, path, operation } of touched) {
      const named = path.replaceAll(/:\w+/g, 'none')
      const { body } = await ada.ask(method, named, method === 'GET' ? undefined : {})
      codes.set(operation, body.error?.code)
    }
    return codes
  }

  test('is needed for each operation that the contract says, and for no fewer', async () => {
    assert.deepEqual(touched.map(({ operation }) => operation as string).toSorted(), TOUCHED)
    const fresh = await codesOf()
    await endTouch(sharedErgon(), member)
    const codes = await codesOf()
    for (const operation of TOUCHED) {
      assert.notEqual(fresh.get(operation), 'touch_required', operation)
      assert.equal(codes.get(operation), 'touch_required', operation)
    }
    for (const path of ['/v1/webhooks', '/v1/databases', '/v1/tokens', '/v1/balance'])
      await ada.must(200, 'GET', path)
  })
})
