// The actor of an entry of the audit log: a token, the operator, or the service itself.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Principal } from '#identity/principal.ts'
import { recordOperatorAct, recordSystemAct } from '#identity/audit.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createAuditList } from './audit-list.ts'

const OPTIONS = { skip: whyNoState() }
const MIGRATION = '../../identity/schema/0218_acts-of-the-system.sql'

let state: State
ledgerOfFile(2, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
})

/** The actors by target. */
async function actorsOf(account: string): Promise<Record<string, string>> {
  const reply = await createAuditList({ state })({
    caller: { account } as Principal,
    query: () => new URLSearchParams(),
  } as never)
  const { data } = JSON.parse(
    JSON.stringify((reply as unknown as { body: () => unknown }).body()),
  ) as { data: { target: string; actor: { type: string } }[] }
  return Object.fromEntries(data.map(({ target, actor }) => [target, actor.type]))
}

test('the service is no operator in the audit log', OPTIONS, async () => {
  await recordOperatorAct(state, 'owner', { action: 'funds.add', target: 'by-operator' })
  await recordSystemAct(state, 'owner', { action: 'topup.create', target: 'by-rule' })
  assert.deepEqual(await actorsOf('owner'), { 'by-operator': 'operator', 'by-rule': 'system' })
})

test('entries from before the service was told apart are mended', OPTIONS, async () => {
  await addTestAccount(state, { id: 'older', env: 'test', lowWater: 0n })
  await state.query('alter table audit_entries drop column by_system')
  await state.query(
    `insert into audit_entries (id, account, action, target, details)
     select 'aud_' || action, 'older', action, action, '{}'
     from unnest(array['topup.create', 'topup.refund', 'refund.settle', 'grant.create']) action`,
  )
  await state.query(await readFile(new URL(MIGRATION, import.meta.url), 'utf8'))
  assert.deepEqual(await actorsOf('older'), {
    'topup.create': 'system',
    'topup.refund': 'system',
    'refund.settle': 'operator',
    'grant.create': 'operator',
  })
})
