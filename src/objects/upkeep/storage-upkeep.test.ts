// The upkeep's own loop: a move that is ordered while nothing moves begins when it is told.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sleep, systemClock } from '#base/clock.ts'
import { quiet } from '#postgres/testing.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { makeBucket, type Store } from '#objects/store.fixture.ts'
import { beginMove, loadMove } from './move-order.ts'
import { createStorageUpkeep } from './storage-upkeep.ts'
import { withBlobs } from './upkeep.fixture.ts'

const DAY_MS = 86_400_000
/** A look that nobody asked for comes after the test. */
const NEVER_MS = 1_000_000_000
let store: Store
const { putObject, stores } = withBlobs((opened) => ({ store } = opened))

test('a move begins when the upkeep is told of its order', { skip: whyNoState() }, async () => {
  const bucket = await makeBucket(store, 'told')
  await putObject(bucket, 'k', randomBytes(1000))
  const looked = Promise.withResolvers<void>()
  const ending = new AbortController()
  const limit = AbortSignal.timeout(60_000)
  const upkeep = createStorageUpkeep({
    state: watched(store.state, looked.resolve),
    stores: stores(),
    clock: systemClock,
    log: quiet,
    dayMs: DAY_MS,
    minuteMs: DAY_MS,
    untoldMs: NEVER_MS,
    standing: { charge: async () => undefined },
    keys: { secret: 'a secret', keyIds: [] },
  })
  const running = upkeep.run(ending.signal)
  try {
    // It has found no order, so it rests.
    await looked.promise
    await beginMove(store.state, 'two')
    upkeep.told()
    while ((await loadMove(store.state))?.state !== 'done') await sleep(10, limit)
    assert.equal((await loadMove(store.state))?.moved, 1)
  } finally {
    ending.abort()
    await running
  }
})

/** A state that says when an order was looked for. */
const watched = (state: State, looked: () => void): State => ({
  ...state,
  async query(text, values) {
    const result = await state.query<never>(text, values)
    if (text.startsWith('select place')) looked()
    return result
  },
})
