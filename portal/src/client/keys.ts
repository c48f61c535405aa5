// Idempotency-Keys: a request whose outcome is unknown has the same key when it is sent again.
import { isProblem } from './problem.ts'

export interface Keys {
  /** The key of a request, which it has until its outcome is known. */
  readonly of: (request: string) => string
  /** The outcome is known: the same request is a new action from now on. */
  readonly settle: (request: string) => void
}

export function createKeys(): Keys {
  const waiting = new Map<string, string>()
  return {
    of(request) {
      const key = waiting.get(request) ?? crypto.randomUUID()
      waiting.set(request, key)
      return key
    },
    settle: (request) => void waiting.delete(request),
  }
}

/** True for failures after which nobody knows what was done. A request that its caller stopped is none of them. */
export const isOpen = (error: unknown): boolean =>
  isProblem(error) &&
  (error.status === 0 || error.status >= 500 || error.code === 'idempotency_in_progress')
