// Stops the sessions of a server where they are, in the kernel: none of them writes until they go on. The superuser's
// session and the server's own processes are not stopped.
import { readFileSync } from 'node:fs'
import type { Cell } from '#cells/cell.ts'
import { signalProcess } from '#cells/stop.ts'

/** The title of the process of a session: cluster, role, database, and the socket that it came by. */
const SESSION = /^postgres: [^ ]+ (?!postgres )[^ ]+ [^ ]+ \[local\]/
/** A stopped session may have a lock that the superuser waits for: then all go on. A query took 66 ms at a load of 20. */
const HOLD_MAX_MS = 250

/** The sessions go on at the disposal, or by themselves a quarter of a second later. */
export function holdSessions(cell: Pick<Cell, 'processes'>): Disposable {
  const held = cell.processes().filter(isSession)
  const goOn = () => {
    clearTimeout(due)
    for (const pid of held.splice(0)) letGoOn(pid)
  }
  const due = setTimeout(goOn, HOLD_MAX_MS)
  try {
    for (const pid of held) signalProcess(pid, 'SIGSTOP')
  } catch (error) {
    goOn()
    throw error
  }
  return { [Symbol.dispose]: goOn }
}

function letGoOn(pid: number): void {
  try {
    signalProcess(pid, 'SIGCONT')
  } catch {
    // Not ours: the session has ended, and its number is another's. The others must go on.
  }
}

function isSession(pid: number): boolean {
  try {
    return SESSION.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
  } catch {
    // It has ended.
    return false
  }
}
