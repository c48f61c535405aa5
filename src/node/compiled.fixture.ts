// A program for the test of compiled.ts. It says the stack of its fault, and where its source is.
import { ErgonError } from '#base/errors.ts'

/** The type takes lines that the bundle does not have. */
type Faults = {
  readonly code: string
  readonly status: number
}

const refuse = (fault: Faults): never => {
  throw new ErgonError(fault, 'Refused')
}

try {
  refuse({ code: 'config_invalid', status: 500 })
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n${import.meta.filename}\n`)
  throw error
}
