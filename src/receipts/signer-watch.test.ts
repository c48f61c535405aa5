import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import type { ShareState, SignerShare } from '#signers/shares.ts'
import { createSignerWatch } from './signer-watch.ts'

const sharesAre = (...states: ShareState[]): SignerShare[] =>
  states.map((share, nth) => ({ index: nth + 1, share }))
const NONE = sharesAre('none', 'none', 'none', 'none', 'none')
// The status of signer 1 came late: the others were asked before they had a part of the key.
const MIXED = sharesAre('ready', 'none', 'none', 'none', 'none')
const READY = sharesAre('ready', 'ready', 'ready', 'ready', 'ready')

/** The lost shares where the signers answer `looks` in turn; the log gets its key after the answer `keyAfter`. */
async function lostAfter(looks: readonly SignerShare[][], keyAfter: number): Promise<number[]> {
  let answered = 0
  const watch = createSignerWatch({
    signers: { shares: async () => looks[Math.min(answered++, looks.length - 1)] ?? [] },
    store: { save: async () => {}, mayMakeKey: async () => answered < keyAfter },
    clock: systemClock,
    log: createLogger('test', { write: () => {} }),
  })
  const { lost } = await watch.look(AbortSignal.timeout(1_000))
  return lost.map(({ index }) => index)
}

test('while the first key is made no share is lost, whatever moments the answers are of', async () => {
  deepEqual(await lostAfter([NONE, READY], 1), [])
  deepEqual(await lostAfter([MIXED, READY], 1), [])
  deepEqual(await lostAfter([MIXED, READY], 2), [])
})

test('a share that two looks miss is lost', async () => {
  deepEqual(await lostAfter([MIXED], Infinity), [2, 3, 4, 5])
  deepEqual(await lostAfter([NONE], 0), [1, 2, 3, 4, 5])
  deepEqual(await lostAfter([MIXED.with(1, { index: 2, share: 'ready' })], 0), [3, 4, 5])
})
