// The end of a turn of the event loop. Work of many requests is done there in one go: one reading of the CPU clock,
// one write of the journal.

/** Calls back at the end of this turn; a call from such a callback is of the same turn. */
export type AtTurnEnd = (fire: () => void) => void

let waiting: (() => void)[] = []

/** Callbacks run in the order of their calls, before any promise that they resolve goes on. They must not throw. */
export const atTurnEnd: AtTurnEnd = (fire) => {
  waiting.push(fire)
  if (waiting.length === 1) setImmediate(endTurn)
}

function endTurn(): void {
  // Grows while it runs.
  for (let place = 0; place < waiting.length; place++) waiting[place]?.()
  waiting = []
}
