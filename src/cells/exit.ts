// The exit of a life of a cell, as that of the program in it.
import { constants } from 'node:os'
import type { Clock } from '#base/clock.ts'
import type { Exit } from './cell.ts'
import type { StartedProcess } from './launch.ts'

/** Resolves with the exit of a life, also of one that could not be started. */
export function untilExit(life: StartedProcess, hasInit: boolean, clock: Clock): Promise<Exit> {
  return new Promise((resolve) => {
    life.child.once('exit', (code, signal) => {
      resolve({ ...decode(code, signal, hasInit), at: clock.wallMs() })
    })
    // Not started at all: no memory, no processes left.
    life.child.once('error', () => resolve({ code: 127, signal: null, at: clock.wallMs() }))
  })
}

/** Our init is a shell, which can only say 128 + n where its program was killed by signal n. */
function decode(code: number | null, signal: NodeJS.Signals | null, hasInit: boolean) {
  if (!hasInit || code === null || code <= 128) return { code, signal }
  const named = Object.entries(constants.signals).find(([, number]) => number === code - 128)
  return named === undefined ? { code, signal } : { code: null, signal: named[0] as NodeJS.Signals }
}
