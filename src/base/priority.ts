// Background work gives way to requests: a receipt can wait for its seal, a caller cannot.
import { constants, setPriority } from 'node:os'

/**
 * Lowers this process's share of a busy CPU to about a tenth of a gateway's (nice 10); an idle machine
 * does not feel it. Linux counts it per thread: the calling one and those that it makes from now on.
 */
export const giveWay = (): void => setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
