import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationCall } from '#http/reply.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createPackDelete } from './pack-get.ts'

const AT_ONCE = 3
const FROM = new Date('2026-11-21T10:00:00.000Z')
const TO = new Date('2026-11-21T11:00:00.000Z')

let state: State
ledgerOfFile(2 * AT_ONCE, (opened) => {
  state = opened
})

test(
  'a single one of several deletions of one pack at once deletes it',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
    await addTestMember(state, 'owner')
    await state.query("select add_pack('pack_1', 'owner', $1, $2, 1, 1, 5)", [FROM, TO])
    const remove = createPackDelete({ state, keptDays: 90, nowMs: Date.now })
    const call = {
      caller: {
        account: 'owner',
        token: 'tok_owner',
        member: 'mem_owner',
        role: 'owner',
        env: 'test',
      },
      parameters: { pack: 'pack_1' },
      spend: { requestId: 'req_1' },
    } as unknown as OperationCall<never>
    // All of them have found the pack before the first deletes it.
    let asked: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([])
    await state.transaction(async (transaction) => {
      await transaction.query("select from evidence_packs where id = 'pack_1' for update")
      asked = Promise.allSettled(Array.from({ length: AT_ONCE }, async () => await remove(call)))
      await untilTheyWait(transaction)
    })
    const ended = await asked
    const refused = ended.filter((one) => one.status === 'rejected')
    assert.equal(refused.length, AT_ONCE - 1)
    for (const { reason } of refused)
      assert.equal((reason as { code: string }).code, 'pack_not_found')
    const audit = await state.query("select from audit_entries where action = 'pack.delete'")
    assert.equal(audit.rowCount, 1)
  },
)

async function untilTheyWait(transaction: Pick<State, 'query'>): Promise<void> {
  const end = Date.now() + 60_000
  while (Date.now() < end) {
    // The first waits for the row, the others for the first.
    const { rowCount } = await transaction.query('select from pg_locks where not granted')
    if (rowCount >= AT_ONCE) return
    await transaction.query('select pg_sleep(0.02)')
  }
  throw new TypeError('they do not wait')
}
