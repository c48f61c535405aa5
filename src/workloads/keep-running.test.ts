// Uses that have no end, over a pool that counts what is used and released.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { createKeptInstances } from './keep-running.ts'
import { keyOfInstance } from './versioned.ts'

const RESOURCE = { id: 'wl_a', account: 'acct_a', name: 'web' }
const { signal } = new AbortController()

function open() {
  const live = { version: 1, sleepAfterMs: 1000, scaleMin: 2 }
  const state = { query: async () => ({ rows: [live] }) } as unknown as Queryable
  const uses: { readonly key: string; releases: number }[] = []
  const kept = createKeptInstances({
    state,
    log: quiet,
    crashes: { endIfSteady: async () => undefined },
    instances: {
      async use(own) {
        const use = { key: keyOfInstance(own), releases: 0 }
        uses.push(use)
        return { release: () => void use.releases++ } as never
      },
    },
  })
  const unreleased = () => uses.filter(({ releases }) => releases === 0).map(({ key }) => key)
  return { ...kept, live, uses, unreleased }
}

test('an instance is used once, also where two look at once, and each use is released once', async () => {
  const { keep, letGo, live, uses, unreleased } = open()
  await Promise.all([keep(RESOURCE, signal), keep(RESOURCE, signal)])
  assert.deepEqual(unreleased().toSorted(), ['wl_a 1 1', 'wl_a 1 2'])
  live.scaleMin = 1
  await keep(RESOURCE, signal)
  assert.deepEqual(unreleased(), ['wl_a 1 1'])
  letGo('wl_a 1 1')
  letGo('wl_a 1 1')
  assert.ok(uses.every(({ releases }) => releases === 1))
  await keep(RESOURCE, signal)
  assert.deepEqual(unreleased(), ['wl_a 1 1'])
})

test('instances that are being ended are not released again', async () => {
  const { keep, forget, live, uses } = open()
  await keep(RESOURCE, signal)
  forget(RESOURCE.id)
  live.scaleMin = 0
  await keep(RESOURCE, signal)
  assert.ok(uses.every(({ releases }) => releases === 0))
})

test('tend() does not wait for instances that hang, and tells of those that do not run', async () => {
  const rows = [{ ...RESOURCE, actual: 'deployed', version: 1, sleepAfterMs: 1000, scaleMin: 1 }]
  const hangs = Promise.withResolvers<never>()
  const kept = createKeptInstances({
    state: { query: async () => ({ rows }) } as unknown as Queryable,
    log: quiet,
    crashes: { endIfSteady: async () => undefined },
    instances: { use: () => hangs.promise },
  })
  await kept.tend(signal)
  await kept.tend(signal)
  const kepts = kept.keep(RESOURCE, signal)
  hangs.reject(new TypeError('it hangs'))
  assert.equal(await kepts, false)
  await kept.idle()
})
