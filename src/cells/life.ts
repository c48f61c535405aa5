// A life of a cell whose lines of output go to its owner, which can change: the life of a spare becomes another cell's.
import type { Clock } from '#base/clock.ts'
import type { CellSpec, OutputLine, StartedLife } from './cell.ts'
import { ACCOUNT_PACE, readLines } from './output.ts'

export interface OwnedLife extends Pick<StartedLife, 'pid' | 'exit' | 'kill' | 'configure'> {
  /** False as soon as its end is known. */
  readonly isRunning: boolean
  /** Takes its lines from now on. */
  hear(sink: (line: OutputLine) => void): void
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
  for (const name of ['stdout', 'stderr'] as const)
    readLines({ name, stream: life[name], ...pace }, (line) => sink(line), clock)
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
  }
}
