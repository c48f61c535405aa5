// Work that the service goes on with, also when ^C ends the command that waits for it.
import { tell } from './output.ts'

const INTERRUPTED = 130

/** ^C tells the words, such as the command that shows how far the work is, and ends the command. */
export async function interruptible<T>(words: string, wait: () => Promise<T>): Promise<T> {
  const interrupted = () => {
    tell(`\n${words}`)
    process.exit(INTERRUPTED)
  }
  process.once('SIGINT', interrupted)
  try {
    return await wait()
  } finally {
    process.off('SIGINT', interrupted)
  }
}
