// Background work gives way to requests: a receipt can wait for its seal, a caller cannot.
import { constants, getPriority, setPriority } from 'node:os'

const BACKGROUND = constants.priority.PRIORITY_BELOW_NORMAL

/**
 * Lowers this process's share of a busy CPU to about a tenth of a gateway's (nice 10); an idle machine
 * does not feel it. Linux keeps the priority of each thread: this call sets that of the calling thread and of threads
 * that it starts later. A process that has a lower priority keeps it: only root may raise a priority.
 */
export const giveWay = (): void => {
  if (getPriority() < BACKGROUND) setPriority(BACKGROUND)
}
