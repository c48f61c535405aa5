// The energy check of the storage bench (bench/storage-energy.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { billedBars, idleShares, type BilledSpan } from './storage-energy.ts'

const SAMPLE_MS = 10
const FALL_MS = 60
const REST = 0.02

/** A target whose use falls from `first` of a core to its rest, as seals and vacuums end. */
function fallingTarget(name: string, first: number) {
  const fromMs = performance.now()
  const cpuUs = () => {
    const ms = performance.now() - fromMs
    return 1000 * (REST * ms + (first - REST) * FALL_MS * (1 - Math.exp(-ms / FALL_MS)))
  }
  return { name, cpuUs, quiet: async () => undefined }
}

test('idle shares are of targets at rest, and not of the seconds after a load', async () => {
  const shares = await idleShares(
    [fallingTarget('ours', 0.5), fallingTarget('peer', REST)],
    SAMPLE_MS,
  )
  for (const [name, share] of shares) assert.ok(share > 0.015 && share < 0.03, `${name}: ${share}`)
  assert.equal(shares.size, 2)
})

test('idle shares are not told of a target that never rests', async () => {
  let us = 0
  let step = 1
  const busy = { name: 'busy', cpuUs: () => (us += step *= 1000), quiet: async () => undefined }
  await assert.rejects(idleShares([busy], 1), /Does not come to rest: busy/)
})

test('a bar is missed where more energy is billed than the CPU of all processes makes', () => {
  const barOf = (span: BilledSpan) => {
    const [bar] = billedBars(new Map([['GET 1 MiB', span]]))
    assert.ok(bar?.most !== undefined)
    return bar.value <= bar.most
  }
  assert.equal(barOf({ billedNj: 100, usedNj: 101, errorNj: 0 }), true)
  assert.equal(barOf({ billedNj: 108, usedNj: 100, errorNj: 3 }), false)
  assert.equal(barOf({ billedNj: 102, usedNj: 100, errorNj: 3 }), true)
})
