// The end of a pull that never comes by itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signal } from './workloads.fixture.ts'
import { pullImage, type NodePulls } from './pull-image.ts'

test('a pull that does not end is ended after its time, with words', async () => {
  let stops = 0
  const cell = {
    ready: (ending: AbortSignal) =>
      new Promise((_, reject) => ending.addEventListener('abort', () => reject(ending.reason))),
    stop: async () => void stops++,
  }
  const deps = {
    cells: { start: async () => cell },
    place: { runFolder: '/none', dataFolder: '/none', appFolder: '/none' },
    admit: async () => undefined,
    folder: '/none',
    settings: { privateRegistries: [], imageFolder: null },
    passwordFor: async () => undefined,
    servedPorts: [],
    limitMs: 20,
  } as unknown as NodePulls
  const wanted = { id: 'wl_a', account: 'acct_a', version: 1, image: 'one', roomBytes: 1 }
  await assert.rejects(
    pullImage(deps, wanted, () => undefined, signal),
    { code: 'image_too_slow', message: 'Could not pull "one": it was not there after 0.02 s' },
  )
  assert.equal(stops, 1)
})
