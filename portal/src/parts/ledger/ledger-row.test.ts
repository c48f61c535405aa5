// The balance beside each row of the ledger, with charges that came after the page was read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  balanced,
  isOfProbe,
  joined,
  rowOfCharge,
  rowOfEntry,
  subjectOf,
  type Row,
} from './ledger-row.ts'

const entry = {
  id: 'rcpt_1',
  at: '2026-11-25T00:00:00.000Z',
  kind: 'charge',
  amount_pusd: '-30',
  request_id: 'req_1',
  service: 'storage',
  operation: 'object.put',
  model: null,
  energy_nj: '5',
  resource: 's3:photos/cat.jpg',
  method: 'model',
  band_pct: '40',
  leaf_hash: 'ab',
  reference: null,
  token: 'tok_1',
} as const

const fresh = {
  id: 'rcpt_2',
  at: '2026-11-25T00:00:01.000Z',
  service: 'inference',
  operation: 'chat.create',
  model: 'm',
  energy_nj: '7',
  charge_pusd: '2',
  method: 'rapl',
  band_pct: 5,
} as const

test('rowOfEntry() names the resource and how its energy is known', () => {
  const row = rowOfEntry(entry)
  assert.equal(row.subject, 'photos/cat.jpg')
  assert.deepEqual(row.how, { known: 'modelled', bandPct: 40 })
  assert.equal(rowOfEntry({ ...entry, resource: null, model: 'm' }).subject, 'm')
})

test('isOfProbe() finds what the token of the probe asked, and what its bucket keeps', () => {
  const probe = { tokens: new Set(['tok_1']), bucket: 'probe-1' }
  const of = (change: object) => isOfProbe(rowOfEntry({ ...entry, ...change }), probe)
  assert.equal(of({}), true)
  assert.equal(of({ token: 'tok_2' }), false)
  assert.equal(of({ token: null, resource: 's3:probe-1' }), true)
  assert.equal(of({ token: null, resource: 's3:probe-1/ping' }), true)
  assert.equal(of({ token: null, resource: 's3:probe-10' }), false)
  assert.equal(isOfProbe(rowOfEntry(entry), undefined), false)
})

test('rowOfCharge() knows its energy as the charge does', () => {
  assert.deepEqual(rowOfCharge(fresh).how, { known: 'measured', bandPct: 5 })
})

test('balanced() counts from the balance of the read rows, forwards for newer ones', () => {
  const topup: Row = { ...rowOfEntry(entry), id: 'tr_1', kind: 'topup', amount: 1000n }
  const read = [rowOfEntry(entry), topup]
  const rows = joined([rowOfCharge(fresh), rowOfEntry(entry)], read)
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['rcpt_2', 'rcpt_1', 'tr_1'],
  )
  const after = (balance: bigint | undefined, isFreshWhole: boolean) =>
    balanced(rows, read.length, { balance, isFreshWhole }).map((row) => row.after)
  assert.deepEqual(after(970n, true), [968n, 970n, 1000n])
  assert.deepEqual(after(970n, false), [undefined, 970n, 1000n], 'only newer ones are not known')
  assert.deepEqual(after(undefined, true), [undefined, undefined, undefined])
})

test('joined() keeps no live charge that is older than the page or the moment from which it was asked for', () => {
  const of = (nth: number, at: string) => ({ ...rowOfCharge(fresh), id: `rcpt_${nth}`, at })
  const at = (nth: number) => `2026-11-26T12:00:0${nth}.000Z`
  const live = [5, 4, 3, 2, 1].map((nth) => of(nth, at(nth)))
  const ids = (rows: readonly Row[]) => rows.map(({ id }) => id)
  assert.deepEqual(ids(joined(live, [of(4, at(4)), of(3, at(3))])), ['rcpt_5', 'rcpt_4', 'rcpt_3'])
  const midnight = '2026-11-27T00:00:00Z'
  const today = of(6, '2026-11-27T00:00:01.000Z')
  assert.deepEqual(ids(joined([today, ...live], [], midnight)), ['rcpt_6'])
  assert.deepEqual(ids(joined(live, [])), ids(live))
})

test('a row is about a resource by its name, and by its id where there is no such resource', () => {
  const resources = new Map([['wl_1', { name: 'api' }]])
  const of = (subject: string | null) => subjectOf({ subject }, resources)
  assert.deepEqual([of('wl_1'), of('wl_2'), of(null)], ['api', 'wl_2', null])
})
