import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import type { Claim } from '#charging/spend.ts'
import { RequestClaims } from './claims.ts'

const cpu = (cell: string, cpuNs: bigint): Claim => ({ kind: 'cpu', cell, cpuNs })
const upstream = (energyNj: bigint): Claim => ({
  kind: 'upstream',
  meter: 'upstream:up',
  method: 'model',
  bandPct: 60,
  energyNj: nj(energyNj),
})

test('claims of a second call come on top of the first, each meter for itself', () => {
  const claimed: Claim[] = []
  const take = (used: Claim) => void claimed.push(used)
  const claims = new RequestClaims({ claim: take, finish: take, absorb: () => undefined })
  claims.begin()
  claims.claim(cpu('a', 5n))
  claims.claim(cpu('a', 9n))
  claims.claim(upstream(100n))
  claims.begin()
  claims.claim(cpu('a', 2n))
  claims.claim(cpu('a', 3n))
  claims.claim(cpu('b', 1n))
  claims.claim(upstream(7n))
  claims.begin()
  void claims.finish(cpu('a', 1n))
  assert.deepEqual(claimed, [
    cpu('a', 5n),
    cpu('a', 9n),
    upstream(100n),
    cpu('a', 11n),
    cpu('a', 12n),
    cpu('b', 1n),
    upstream(107n),
    cpu('a', 13n),
  ])
})

test('an absorbed claim is not added to those after it', () => {
  const claimed: (Claim | 'absorbed')[] = []
  const take = (used: Claim) => void claimed.push(used)
  const absorb = () => void claimed.push('absorbed')
  const claims = new RequestClaims({ claim: take, finish: take, absorb })
  claims.begin()
  claims.claim(cpu('a', 5n))
  claims.claim(upstream(100n))
  claims.absorb()
  claims.begin()
  claims.claim(upstream(7n))
  claims.claim(cpu('a', 2n))
  assert.deepEqual(claimed, [cpu('a', 5n), upstream(100n), 'absorbed', upstream(7n), cpu('a', 2n)])
})
