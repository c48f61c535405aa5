import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupName, withOneSignIn } from './groups.ts'
import type { UsageRow } from './use-usage.ts'

const row = (group: string | null, kind: string | null, nj: string, name?: string): UsageRow => ({
  group,
  kind,
  name: name ?? null,
  requests: 2,
  energy_j: 0,
  carbon_mg: 0,
  energy_nj: nj,
  carbon_pg: '0',
  measured_nj: '0',
  charge_pusd: '3',
})

test('groupName() shows no id of a sign-in or an account', () => {
  assert.equal(groupName(row('tok_1', 'session', '1'), 'token'), 'sign-ins at the portal')
  assert.match(groupName(row('acct_1', 'account', '1'), 'resource'), /^the account itself/)
  assert.equal(groupName(row('tok_2', 'token', '1', 'website'), 'token'), 'website')
  assert.equal(groupName(row('db_1', 'database', '1', 'notes'), 'resource'), 'notes')
  assert.equal(groupName(row(null, null, '1'), 'resource'), 'requests and buckets')
})

test('withOneSignIn() sums all sign-ins in their place', () => {
  const rows = [
    row('tok_1', 'token', '9', 'website'),
    row('tok_2', 'session', '6'),
    row(null, null, '5'),
    row('tok_3', 'session', '4'),
  ]
  assert.deepEqual(
    withOneSignIn(rows).map(({ energy_nj: nj, requests, charge_pusd: pusd }) => [
      nj,
      requests,
      pusd,
    ]),
    [
      ['10', 4, '6'],
      ['9', 2, '3'],
      ['5', 2, '3'],
    ],
  )
  assert.equal(withOneSignIn(rows.slice(0, 1)).length, 1)
})
