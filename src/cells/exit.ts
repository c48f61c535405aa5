// A process of this machine as the life of a cell, which ends as the program in it does.
import { constants } from 'node:os'
import type { StartedLife } from './cell.ts'
import type { StartedProcess } from './launch.ts'

/** `hasInit`: an init of ours runs between the process and the program. */
export function lifeOf(
  { child, pid, stdout, stderr, program, configure }: StartedProcess,
  hasInit: boolean,
): StartedLife {
  return {
    pid,
    stdout,
    stderr,
    program,
    configure,
    exit: new Promise((resolve) => {
      child.once('exit', (code, signal) =>
        resolve(hasInit ? decodedExit(code, signal) : { code, signal }),
      )
      // Not started at all: no memory, no processes left.
      child.once('error', () => resolve({ code: 127, signal: null }))
    }),
    kill: () => void child.kill('SIGKILL'),
  }
}

/** An init, and an engine of containers, can only say 128 + n where signal n has killed the program. */
export function decodedExit(code: number | null, signal: NodeJS.Signals | null = null) {
  if (code === null || code <= 128) return { code, signal }
  const named = Object.entries(constants.signals).find(([, number]) => number === code - 128)
  return named === undefined ? { code, signal } : { code: null, signal: named[0] as NodeJS.Signals }
}
