// Codes that base and the cells throw. They know no contract, which lists these codes with all others.
import { ErgonError, type FaultOptions, type OperatorEntry } from './errors.ts'

export const BASE_ERRORS = {
  config_invalid: {
    status: 500,
    help: 'A child process did not get its configuration: only the agent starts child processes.',
  },
  image_unsupported: {
    status: 422,
    help: 'Use an image of OCI or Docker for Linux and this processor; the message says what does not fit.',
  },
  internal: { status: 500, help: 'Retry; if it stays, report the request id.' },
  locked: {
    status: 500,
    help: 'Another process uses the folder: only one node may run on a data folder.',
  },
  run_folder_taken: {
    status: 500,
    help: 'Somebody else has put something where our sockets go: remove it, or set TMPDIR to a folder of your own.',
  },
  undecipherable: {
    status: 500,
    help: 'A secret in the state cannot be read with the key of this data folder: give it again.',
  },
} as const satisfies Record<string, OperatorEntry>

/** An error of these codes. */
export const baseFault = (
  code: keyof typeof BASE_ERRORS,
  message: string,
  more: FaultOptions = {},
): ErgonError => new ErgonError({ code, status: BASE_ERRORS[code].status }, message, more)
