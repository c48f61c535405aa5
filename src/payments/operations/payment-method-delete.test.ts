import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { OperationCall } from '#http/reply.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { applyFacts } from '#payments/start-payment.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createMethodDelete } from './payment-method-delete.ts'

const AT_ONCE = 3
const OPTIONS = { skip: whyNoState() }

let state: State
ledgerOfFile(AT_ONCE, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
  await addTestMember(state, 'owner')
})
beforeEach(async () => {
  await state?.query('delete from payment_methods')
  await state?.query(
    `insert into payment_methods (id, account, processor, reference, state, created_at)
     values ('card_1', 'owner', 'card-test', 'pm_1', 'active', now())`,
  )
})

const call = {
  caller: { account: 'owner', token: 'tok_owner', member: 'mem_owner', role: 'owner', env: 'test' },
  parameters: { method: 'card_1' },
  spend: { requestId: 'req_1' },
} as unknown as OperationCall<never>
const removal = (forget: () => Promise<void>) => {
  const adapter = { name: 'card-test', forget } as Partial<PaymentAdapter> as PaymentAdapter
  const remove = createMethodDelete({ state, adapters: [adapter] })
  return async () => await remove(call)
}
const audited = async () =>
  (
    await state.query(
      "select from audit_entries where action = 'payment-method.delete' and request = 'req_1'",
    )
  ).rowCount

test('a single one of several removals of one card at once removes it', OPTIONS, async () => {
  const all = Promise.withResolvers<void>()
  let asked = 0
  // All of them have found the card before the first removes it.
  const remove = removal(() => {
    if (++asked === AT_ONCE) all.resolve()
    return all.promise
  })
  const before = await audited()
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, remove))
  const refused = ended.filter((one) => one.status === 'rejected')
  assert.equal(refused.length, AT_ONCE - 1)
  for (const { reason } of refused)
    assert.equal((reason as { code: string }).code, 'payment_method_not_found')
  assert.equal((await audited()) - before, 1)
})

test('a removal of which the processor tells first is recorded all the same', OPTIONS, async () => {
  const before = await audited()
  const remove = removal(async () => {
    const fact = { id: 'evt_1', type: 'method_removed', method: 'pm_1' }
    assert.deepEqual(await applyFacts(state, 'card-test', [fact]), ['applied'])
  })
  assert.equal((await remove()).kind, 'known')
  assert.equal((await audited()) - before, 1)
  await assert.rejects(remove(), { code: 'payment_method_not_found' })
})
