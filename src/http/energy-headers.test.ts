import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { bandOfParts } from '#contract/ledger/known.ts'
import { RESPONSE_HEADERS, type HeaderClass } from '#contract/headers.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { ceilingHeaders, finalHeaders, pairsOf, TRAILERS, trailers } from './energy-headers.ts'

const documented = (...classes: HeaderClass[]) =>
  Object.entries(RESPONSE_HEADERS)
    .filter(([, { on }]) => classes.includes(on))
    .map(([name]) => name)
    .toSorted()

test('finalHeaders() gives the documented headers and no other', () => {
  const headers = Object.fromEntries(pairsOf(finalHeaders(chargeOf(1), 'req_1')))
  assert.deepEqual(Object.keys(headers).toSorted(), documented('every', 'settled'))
})

test('ceilingHeaders() gives the documented headers but Trailer, which depends on the protocol', () => {
  const { factor, routed_to: routedTo, tier } = chargeOf(1)
  const energyMethod = 'model; band=40%'
  const estimate = { ceilingNj: nj(1_500_000_000n), factor, routedTo, tier, energyMethod }
  const list = ceilingHeaders(estimate, { receiptId: 'rcpt_1', requestId: 'req_1' })
  const headers = Object.fromEntries(pairsOf(list))
  assert.deepEqual([...Object.keys(headers), 'Trailer'].toSorted(), documented('every', 'streamed'))
  assert.equal(headers['X-Energy-Joules'], '1.5')
})

test('trailers() gives what is announced: the figures, and how the charge is known', () => {
  const charge = chargeOf(1)
  const [node] = charge.parts
  assert.ok(node !== undefined)
  const far = { ...node, meter: 'upstream:far', band_pct: '100', energy_nj: node.energy_nj }
  const list = pairsOf(trailers({ ...charge, parts: [node, far] }))
  assert.equal(list.map(([name]) => name).join(', '), TRAILERS)
  const { method, bandPct } = bandOfParts([node, far])
  assert.notEqual(bandPct, 100)
  assert.equal(Object.fromEntries(list)['X-Energy-Method'], `${method}; band=${bandPct}%`)
})
