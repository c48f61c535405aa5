import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { NotWanted } from '#resources/instances.ts'
import { NotYet } from '#resources/reconciler.ts'
import { createTrials } from './trials.ts'

const { signal } = new AbortController()

test('trials wait for their turn, and those of accounts that never failed are the next', async () => {
  const trials = createTrials({ most: 1 })
  const begun: string[] = []
  const trial = (name: string, isFine: boolean) => async () => {
    begun.push(name)
    await pause(5)
    return isFine
  }
  await trials.run('bad', trial('first', false), signal)
  // Longer than the rest of the account that has failed.
  await trials.run('other', async () => (await pause(20), true), signal)
  await Promise.all([
    trials.run('a', trial('a', true), signal),
    trials.run('bad', trial('second', true), signal),
    trials.run('b', trial('b', true), signal),
  ])
  assert.deepEqual(begun, ['first', 'a', 'b', 'second'])
})

test('an account rests the longer, the more of its trials failed; a good one ends that', async () => {
  const trials = createTrials()
  const restOf = async (isFine: boolean) => {
    const beganMs = performance.now()
    let waitedMs = 0
    const trial = async () => {
      waitedMs = performance.now() - beganMs
      await pause(20)
      return isFine
    }
    await trials.run('a', trial, signal)
    return waitedMs
  }
  await restOf(false)
  assert.ok((await restOf(false)) >= 15)
  assert.ok((await restOf(true)) >= 2 * 15)
  const quick = createTrials({ restHereMs: 0 })
  await quick.run('a', async () => (await pause(10), false), signal)
  await assert.rejects(
    quick.run('a', async () => true, signal),
    NotYet,
  )
  await pause(50)
  await quick.run('a', async () => true, signal)
  await quick.run('a', async () => true, signal)
})

test('a long rest is not waited for, and a turn that is not wanted any more is passed on', async () => {
  const trials = createTrials({ most: 1, restHereMs: 1 })
  await trials.run('a', async () => (await pause(10), false), signal)
  await assert.rejects(
    trials.run('a', async () => true, signal),
    NotYet,
  )
  const goOn = Promise.withResolvers<boolean>()
  const holding = trials.run('b', () => goOn.promise, signal)
  const ending = new AbortController()
  const left = trials.run('c', async () => true, ending.signal)
  const last = trials.run('d', async () => true, signal)
  ending.abort(new Error('it stops'))
  await assert.rejects(left, /it stops/)
  goOn.resolve(true)
  await Promise.all([holding, last])
})

test('an account whose trials throw rests too, but not where nobody wants the trial any more', async () => {
  const trials = createTrials({ restHereMs: 1 })
  const thrown = async (account: string, error: Error, ending = signal) => {
    const trial = async () => {
      await pause(10)
      throw error
    }
    await assert.rejects(trials.run(account, trial, ending), error)
  }
  const again = (account: string) => trials.run(account, async () => true, signal)
  await thrown('a', new Error('the registry does not answer'))
  await assert.rejects(again('a'), NotYet)
  await thrown('b', new NotWanted('b'))
  await again('b')
  const ending = new AbortController()
  setTimeout(() => ending.abort(), 1)
  await thrown('c', new Error('the trial was cut off'), ending.signal)
  await again('c')
})

test('a trial that waited while another of its account failed rests too', async () => {
  const trials = createTrials()
  const ends: number[] = []
  const begins: number[] = []
  const trial = async () => {
    begins.push(performance.now())
    await pause(40)
    ends.push(performance.now())
    return false
  }
  await Promise.all([trials.run('a', trial, signal), trials.run('a', trial, signal)])
  assert.ok((begins[1] ?? 0) - (ends[0] ?? 0) >= 35)
  const quick = createTrials({ restHereMs: 1 })
  const settled = await Promise.allSettled([
    quick.run('a', trial, signal),
    quick.run('a', trial, signal),
  ])
  assert.ok(settled[1].status === 'rejected' && settled[1].reason instanceof NotYet)
  // Its turn is another's.
  await quick.run('b', async () => true, signal)
  assert.equal(begins.length, 3)
})

test('a trial that could not begin yet is no failure', async () => {
  const trials = createTrials({ restHereMs: 0 })
  const late = () => Promise.reject(new NotYet())
  await assert.rejects(trials.run('a', late, signal), NotYet)
  // A rest after a failure would be a NotYet too.
  assert.equal(await trials.run('a', async () => true, signal), true)
})

test('an account has one trial at a time, and the next turn is that of another', async () => {
  const trials = createTrials({ most: 2 })
  const begun: string[] = []
  const ends = Promise.withResolvers<boolean>()
  const run = (account: string, name: string, end: boolean | Promise<boolean>) =>
    trials.run(account, async () => (begun.push(name), end), signal)
  const first = run('a', 'a 1', ends.promise)
  const second = run('a', 'a 2', true)
  await run('b', 'b', true)
  assert.deepEqual(begun, ['a 1', 'b'])
  ends.resolve(true)
  await Promise.all([first, second])
  assert.deepEqual(begun, ['a 1', 'b', 'a 2'])
})
