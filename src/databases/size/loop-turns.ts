// Short turns of long work on the event loop: between two turns all else of the process goes on. Works that wait have
// one turn each, one in each round of the loop.

export interface LoopTurns {
  /** A first turn, which begins now. */
  begin(): LoopTurn
}

export interface LoopTurn {
  isOver(): boolean
  /** Resolves when the next turn of this work begins. */
  next(): Promise<void>
}

const TURN_MS = 2

export function createLoopTurns(): LoopTurns {
  const waiting: (() => void)[] = []
  const give = () => {
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(give)
  }
  return {
    begin() {
      let lastMs = performance.now() + TURN_MS
      return {
        isOver: () => performance.now() >= lastMs,
        async next() {
          const { promise, resolve } = Promise.withResolvers<void>()
          if (waiting.push(resolve) === 1) setImmediate(give)
          await promise
          lastMs = performance.now() + TURN_MS
        },
      }
    },
  }
}
