// A pool for a server that lies, and queries of one text.
import type { Socket } from 'node:net'
import { systemClock } from '#base/clock.ts'
import { answeredWith, described, type ToLiar } from './lying-server.fixture.ts'
import { WirePool } from './pool.ts'

export const WITHIN_A_MINUTE = { timeout: 60_000 }
/** Longer than any answer here takes, shorter than the limit of a test. */
const ANSWER_MS_MAX = 10_000

export type TestPoolOptions = ConstructorParameters<typeof WirePool>[0]

export const openTestPool = (
  login: TestPoolOptions['login'],
  more: Partial<TestPoolOptions> = {},
) =>
  new WirePool({
    login,
    connections: 1,
    clock: systemClock,
    waitMsMax: ANSWER_MS_MAX,
    answerMsMax: ANSWER_MS_MAX,
    isHarmless: ({ code }) => code.startsWith('22'),
    lost: () => undefined,
    ...more,
  })

export const honest = (asked: ToLiar): Buffer[] =>
  asked.kind === 'describe' ? described() : answeredWith([`of ${asked.text}`])

export const writeAll = (socket: Socket, messages: readonly Buffer[]) =>
  socket.write(Buffer.concat(messages))

export const askPool = async (pool: WirePool, text: string) =>
  (await pool.ask('select $1 as answer', [text])).rows[0]?.['answer']

/** Moves by hand. */
export function handClock() {
  let nowMs = 0
  const timers = new Set<{ atMs: number; fire: () => void }>()
  return {
    clock: {
      monotonicMs: () => nowMs,
      setTimer(ms: number, fire: () => void) {
        const timer = { atMs: nowMs + ms, fire }
        timers.add(timer)
        return () => void timers.delete(timer)
      },
    },
    advance(ms: number) {
      nowMs += ms
      for (const timer of timers) if (timer.atMs <= nowMs && timers.delete(timer)) timer.fire()
    },
  }
}
