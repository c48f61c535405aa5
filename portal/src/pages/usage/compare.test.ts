// Words of a comparison, and CSV that no spreadsheet runs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeWords, csvOf } from './compare.ts'

const plain = (now: bigint, past: bigint) => changeWords(now, past).replaceAll('\u00a0', ' ')

test('changeWords() says more, less, the same, and nothing before', () => {
  assert.equal(plain(112n, 100n), '12 % more than the time before')
  assert.equal(plain(40n, 100n), '60 % less than the time before')
  assert.equal(plain(350n, 100n), '3.5 times the time before')
  assert.equal(plain(100n, 100n), 'as in the time before')
  assert.equal(plain(5n, 0n), 'nothing in the time before')
})

test('csvOf() quotes, and takes the force from formulas', () => {
  const row = {
    group: '=cmd|"x",1',
    requests: 3,
    energy_j: 0,
    carbon_mg: 0,
    energy_nj: '5',
    carbon_pg: '7',
    measured_nj: '0',
    band_pct: 40,
    charge_pusd: '1',
    kind: 'token',
    name: 'website',
  }
  assert.equal(
    csvOf([row]),
    'group,requests,energy_nj,band_pct,measured_nj,carbon_pg,charge_pusd,kind,name\r\n"\'=cmd|""x"",1",3,5,40,0,7,1,token,website\r\n',
  )
})
