// Resources of accounts that cannot pay, or are being deleted, are held suspended, whatever their accounts want.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'

let state: State
ledgerOfFile(2, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  for (const name of ['runs', 'rests', 'new'])
    await state.query("select add_resource('database', $1, $2, 'local', 9)", [ACCOUNT, name])
  await state.query("update resources set actual = 'deployed' where name <> 'new'")
  await state.query("select want_resource(id, 'suspended') from resources where name = 'rests'")
})

const wanted = async () => {
  const { rows } = await state.query<{ name: string; wanted: string }>(
    'select name, wanted from resources order by name',
  )
  return rows.map((row) => `${row.name} ${row.wanted}`).join(', ')
}
const usedUp = (seconds: number | null) =>
  state.query('update accounts set depleted_at = ledger_now() - make_interval(secs => $1)', [
    seconds,
  ])
const hold = () => state.query("select hold_unpaid(interval '60 s')")

test(
  'a minute after the balance is used up, what runs is suspended; a credit resumes it alone',
  { skip },
  async () => {
    await usedUp(50)
    await hold()
    assert.equal(await wanted(), 'new deployed, rests suspended, runs deployed')
    await usedUp(61)
    await hold()
    // A resource that is being made is made first.
    assert.equal(await wanted(), 'new deployed, rests suspended, runs suspended')
    await state.query("update resources set actual = 'deployed' where name = 'new'")
    assert.equal(await wanted(), 'new suspended, rests suspended, runs suspended')
    await usedUp(null)
    await hold()
    assert.equal(await wanted(), 'new deployed, rests suspended, runs deployed')
  },
)

test('a deletion outlasts an empty balance, and a credit does not end it', { skip }, async () => {
  await state.query("select hold_resources($1, 'deleting')", [ACCOUNT])
  await usedUp(90)
  await hold()
  await usedUp(null)
  await hold()
  assert.equal(await wanted(), 'new suspended, rests suspended, runs suspended')
  await state.query("select release_resources($1, 'deleting')", [ACCOUNT])
  assert.equal(await wanted(), 'new deployed, rests suspended, runs deployed')
})
