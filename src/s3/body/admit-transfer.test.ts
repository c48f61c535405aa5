// The order of admission: counted, paid for, given time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payer } from '#charging/spend.ts'
import { fault } from '#contract/errors.ts'
import type { Bucket } from '#objects/types.ts'
import { createAdmitTransfer } from './admit-transfer.ts'
import type { StorageRequest } from '#s3/call.ts'

const OWNER: Payer = { account: 'acct_owner', env: 'test', funded: false }
const CALLER: Payer = { account: 'acct_caller', env: 'test', funded: false }

/** The steps of admission for a caller, or a stranger, until it is admitted or refused. */
async function stepsFor(caller: Payer | undefined, refusedAt?: string): Promise<string[]> {
  const steps: string[] = []
  const step = (name: string) => {
    steps.push(name)
    if (name === refusedAt) throw fault('too_many_requests', 'Could not take the request')
  }
  const request = {
    caller,
    arriveAsStranger: (account: string) => step(`stranger of ${account}`),
    spend: { admit: (payer: Payer) => step(`paid by ${payer.account}`) },
    body: { match: { operation: 'put-object' }, prolong: () => step('prolonged') },
  } as unknown as StorageRequest
  const bucket = { account: OWNER.account, isReadOnly: false } as Bucket
  const admitting = createAdmitTransfer({ payerOf: () => OWNER })(request, bucket, 1)
  if (refusedAt === undefined) await admitting
  else await assert.rejects(admitting, { code: 'too_many_requests' })
  return steps
}

test('a stranger counts among those of the owner, who pays; then it has time', async () => {
  const all = ['stranger of acct_owner', 'paid by acct_owner', 'prolonged']
  assert.deepEqual(await stepsFor(undefined), all)
  assert.deepEqual(await stepsFor(undefined, 'stranger of acct_owner'), all.slice(0, 1))
  assert.deepEqual(await stepsFor(undefined, 'paid by acct_owner'), all.slice(0, 2))
})

test('strangers write into no bucket of an account that is being deleted, and read', async () => {
  const admit = createAdmitTransfer({ payerOf: () => ({ ...OWNER, isDeleting: true }) })
  const bucket = { account: OWNER.account } as Bucket
  for (const caller of [undefined, CALLER])
    for (const operation of ['put-object', 'upload-part', 'get-object']) {
      const request = {
        caller,
        arriveAsStranger: () => undefined,
        spend: { admit: () => undefined },
        body: { match: { operation }, prolong: () => undefined },
      } as unknown as StorageRequest
      if (operation === 'get-object') await admit(request, bucket, 1)
      else await assert.rejects(admit(request, bucket, 1), { code: 'account_deleting' })
    }
})

test('a caller with a name was counted before, pays, and then has time', async () => {
  assert.deepEqual(await stepsFor(CALLER), ['paid by acct_caller', 'prolonged'])
})
