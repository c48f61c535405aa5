// The operator's list of accounts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { fitReserves } from '#ledger/reserves.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { accountHandlers } from './accounts.ts'

const CALL = { signal: new AbortController().signal, progress: () => undefined }

let state: State
ledgerOfFile(2, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
})

test(
  'account.list has as reserved what running work holds, without grace and retention',
  { skip: whyNoState() },
  async () => {
    await state.query("select grant_funds('owner', 10000000, 'funds', 50, 'top_up')")
    const energies = new Map([['owner', 60_000_000_000n]])
    await fitReserves(state, { kind: 'retention', source: 'bucket', energies })
    await state.query("update wallets set reserved = reserved + 1000 where id = 'money:owner'")
    const list = accountHandlers(state, () => ({ id: '', secret: '' }))['account.list']
    const [owner] = await list({}, CALL)
    assert.deepEqual([owner?.balance_pusd, owner?.reserved_pusd], ['10000000', '1000'])
  },
)
