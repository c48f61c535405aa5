// The end of a life of a cell in the words and the number that accounts know.
import { constants } from 'node:os'
import type { Exit } from '#cells/cell.ts'
import type { WorkloadEnd } from './driver.ts'

const OF_SIGNAL = 128
/** The code that engines for containers give where the memory ran out. */
const OUT_OF_MEMORY = 137

export function endOf({ code, signal, stuck, outOfMemory }: Exit): WorkloadEnd {
  if (outOfMemory === true) return { exitCode: OUT_OF_MEMORY, words: 'it used up its memory' }
  const exitCode = code ?? OF_SIGNAL + (signal === null ? 0 : constants.signals[signal])
  if (stuck !== undefined) return { exitCode, words: `it was ended: ${stuck}` }
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`
  return { exitCode, words: `it ended by ${how}` }
}
