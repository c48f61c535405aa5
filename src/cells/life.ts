// A life of a cell whose lines of output go to its owner, which can change: the life of a spare becomes another cell's.
import { type Clock, sleep } from '#base/clock.ts'
import type { CellSpec, LifeOutputs, OutputLine, StartedLife } from './cell.ts'
import { ACCOUNT_PACE, readLines } from './output.ts'

/** The longest wait for the last lines: a process that has escaped `plain` may hold an output open. */
const LAST_LINES_MS = 2000

export interface OwnedLife extends Pick<StartedLife, 'pid' | 'exit' | 'kill' | 'configure'> {
  /** False as soon as its end is known. */
  readonly isRunning: boolean
  /** Takes its lines from now on. */
  hear(sink: (line: OutputLine) => void): void
  /** Resolves behind its last line, once its processes have ended. */
  drained(): Promise<void>
}

export function ownedLife(
  life: StartedLife,
  { payer, isSpare }: Pick<CellSpec, 'payer' | 'isSpare'>,
  clock: Clock,
): OwnedLife {
  // An account will pay for the later cell of a spare.
  const pace = (payer.kind === 'account' || isSpare === true) && { pace: ACCOUNT_PACE }
  let sink: (line: OutputLine) => void = () => undefined
  let isRunning = true
  void life.exit.then(() => (isRunning = false))
  const reading: Promise<void>[] = []
  const read = (outputs: LifeOutputs) => {
    for (const name of ['stdout', 'stderr'] as const)
      reading.push(readLines({ name, stream: outputs[name], ...pace }, (line) => sink(line), clock))
  }
  read(life)
  void life.program?.then(read)
  return {
    // A container has none at first.
    get pid() {
      return life.pid
    },
    exit: life.exit,
    kill: () => life.kill(),
    ...(life.configure && { configure: life.configure }),
    get isRunning() {
      return isRunning
    },
    hear: (taken) => void (sink = taken),
    async drained() {
      const read = new AbortController()
      const late = sleep(LAST_LINES_MS, read.signal).catch(() => undefined)
      await Promise.race([Promise.all(reading), late])
      read.abort()
    },
  }
}
