// A request that pays or begins something, asked again under one key while its outcome is not known.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandError } from './output.ts'

/** Attempts whose outcome is not known, and how long a request that runs is waited for. */
const ATTEMPTS_MAX = 5
const RUNS_MS_MAX = 120_000
const AGAIN_MS = 500

/**
 * The answer of `ask`, which throws a CommandError. `isUnknown` says whether nobody knows the outcome of a failure. Where
 * the outcome stays open, the error has the command `look` that shows it, as the same command once more would have a key
 * of its own and be done twice.
 */
export async function askOnce<Answer>(
  ask: (key: string) => Promise<Answer>,
  {
    isUnknown,
    look,
  }: {
    readonly isUnknown: (error: unknown, isFirst: boolean) => boolean
    readonly look: string
  },
): Promise<Answer> {
  const key = randomUUID()
  const lastMs = performance.now() + RUNS_MS_MAX
  for (let attempt = 1; ;) {
    try {
      return await ask(key)
    } catch (error) {
      const runs = error instanceof CommandError && error.code === 'idempotency_in_progress'
      const isOpen = runs || isUnknown(error, attempt === 1)
      if (!isOpen) throw error
      if (attempt >= ATTEMPTS_MAX || performance.now() > lastMs) throw leftOpen(error, look)
      if (!runs) attempt++
      await pause(AGAIN_MS)
    }
  }
}

const leftOpen = (error: unknown, look: string): unknown =>
  error instanceof CommandError
    ? new CommandError(
        `${error.message}. It may still be done: look before you ask again`,
        error.exitCode,
        look,
        error.code,
      )
    : error
