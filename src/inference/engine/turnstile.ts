// Lets a new answer in while others run. The engine keeps its context locked while any step is requested, and emptying
// a sequence needs that lock. Two long prompts took turns and never released it: a greeting waited 16 s for their end.
// So running answers request no further step while a sequence is being emptied.

export interface Turnstile {
  /** Resolves when the next step may be asked for. */
  pass(): Promise<void>
  /** Does work that needs the lock of the context; it waits only for the running step. */
  enter<T>(work: () => Promise<T>): Promise<T>
}

export function createTurnstile(): Turnstile {
  let entering = 0
  let opened = Promise.withResolvers<void>()
  return {
    async pass() {
      while (entering > 0) await opened.promise
    },
    async enter(work) {
      entering++
      try {
        return await work()
      } finally {
        entering--
        if (entering === 0) {
          opened.resolve()
          opened = Promise.withResolvers()
        }
      }
    },
  }
}
