// Refusals that hold until something changes: the balance or the budget of a resource is used up, or the resource is suspended.
// Nobody pays for requests to such a resource. So the answer to the ingress stays open for a while, and the ingress refuses
// by it without asking.
import type { OpenRequest } from '#node/agent-socket/serve-agent.ts'
import type { WakeLine } from './awake.ts'

export interface StandingRefusals {
  /** The number of changes so far. */
  readonly changes: number
  /**
   * Writes the line, and keeps the answer open where the line stands. Ends the answer at once where anything has changed since
   * `changes`, as the reason of the line may be gone.
   */
  answer(refused: RefusedAnswer, changes: number): void
  /** A resource, or all of an account, may run from now on: the next request asks again. */
  again(of: string): void
  close(): void
}

type RefusedAnswer = {
  readonly resource: { readonly id: string; readonly account: string }
  readonly request: OpenRequest<WakeLine>
  readonly line: WakeLine
}

/** Some reasons end without a message, such as the hold of another cell. */
const STANDS_MS = 10_000
const STANDING_MAX = 10_000
const DAY_MS = 86_400_000

export function createStandingRefusals({
  standsMs = STANDS_MS,
}: { readonly standsMs?: number } = {}): StandingRefusals {
  const standing = new Map<RefusedAnswer['request'], readonly string[]>()
  let changes = 0
  const end = (request: RefusedAnswer['request']) => {
    standing.delete(request)
    request.end()
  }
  return {
    get changes() {
      return changes
    },
    answer({ resource, request, line }, before) {
      if (!request.isOpen) return
      const stands = 'stands' in line && before === changes && standing.size < STANDING_MAX
      if (!stands) return request.end(line)
      // Budgets and free energy are of a day.
      const restMs = Math.min(standsMs, DAY_MS - (Date.now() % DAY_MS))
      const timer = setTimeout(() => end(request), restMs).unref()
      standing.set(request, [resource.id, resource.account])
      request.whenEnded(() => {
        clearTimeout(timer)
        standing.delete(request)
      })
      request.say(line)
    },
    again(of) {
      changes++
      for (const [request, names] of standing) if (names.includes(of)) end(request)
    },
    close: () => standing.forEach((_, request) => end(request)),
  }
}
