// Background work gives way to requests: a receipt can wait for its seal, a caller cannot.
import { constants, getPriority, setPriority } from 'node:os'

const BACKGROUND = constants.priority.PRIORITY_BELOW_NORMAL

/**
 * Lowers this process's share of a busy CPU to about a tenth of a gateway's (nice 10); an idle machine
 * does not feel it. Linux counts it per thread: the calling one and those that it makes from now on. A product that
 * was started with less keeps that: to raise it is root's alone.
 */
export const giveWay = (): void => {
  if (getPriority() < BACKGROUND) setPriority(BACKGROUND)
}
