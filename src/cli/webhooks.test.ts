// Refusals of webhook and token commands in words of their own, and a replay of several pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run as setToken } from './commands/tokens/set.ts'
import { replayFrom, run as replay } from './commands/webhook/replay.ts'
import { EXIT } from './output.ts'
import { needed } from './webhooks.ts'

const call = (options: Record<string, string>) => ({ options, words: ['x_1'], usages: [] })

test('a command names its options as they are typed, and ends with the code of wrong usage', async () => {
  assert.throws(() => needed({}, 'forwardTo', ''), {
    message: '--forward-to is missing',
    exitCode: EXIT.usage,
  })
  // Nothing is asked: there is no service here.
  const baseUrl = 'http://127.0.0.1:1'
  for (const options of [{ baseUrl }, { baseUrl, eventId: 'evt_1', since: '1h' }])
    await assert.rejects(replay(call(options)), {
      message: 'Give --event-id, or --since',
      exitCode: EXIT.usage,
    })
  await assert.rejects(setToken(call({ baseUrl })), {
    message: 'Give --rate or --energy-budget, or both',
    exitCode: EXIT.usage,
  })
})

test('webhook replay goes on where the service took a part, and ends where it makes no progress', async () => {
  const day = (nth: number) => `2026-11-0${nth}T00:00:00.000Z`
  const froms: string[] = []
  const serviceOf = (last: string) => (from: string) => {
    froms.push(from)
    const next = from === day(1) ? day(2) : day(3)
    const isLast = from === last
    return Promise.resolve({ deliveries: 10, has_more: !isLast, next_from: isLast ? null : next })
  }
  assert.deepEqual(await replayFrom(day(1), serviceOf(day(3))), {
    deliveries: 30,
    has_more: false,
    next_from: null,
  })
  assert.deepEqual(froms, [day(1), day(2), day(3)])
  // More events of one moment than a replay takes.
  const stuck = await replayFrom(day(1), serviceOf('never'))
  assert.deepEqual(stuck, { deliveries: 30, has_more: true, next_from: day(3) })
})
