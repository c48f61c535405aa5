// Configuration from the parent process: one JSON line on a file descriptor (3 by default), which the parent then
// keeps open. Its end means that the parent is gone.
import { read } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { baseFault } from './own-errors.ts'
import type { ErgonError } from './errors.ts'

const readAsync = promisify(read)
const CHUNK_BYTES = 65_536
const CONFIG_BYTES_MAX = 1_048_576

/**
 * Reads the configuration line. The parent writes nothing after it, so nothing is read past it. `T` is the type that
 * the parent sends; both ends are ours and start from one checkout, so that the type is the contract. Throws
 * ErgonError `config_invalid` when the line is absent, too long or not JSON.
 */
export async function readConfig<T>(fd = 3): Promise<T> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let line = Buffer.alloc(0)
  while (!line.includes(0x0a)) {
    const { bytesRead } = await readAsync(fd, chunk, 0, CHUNK_BYTES, null)
    if (bytesRead === 0) throw invalid(`it ended after ${line.length} bytes`)
    line = Buffer.concat([line, chunk.subarray(0, bytesRead)])
    if (line.length > CONFIG_BYTES_MAX) throw invalid(`more than ${CONFIG_BYTES_MAX} bytes`)
  }
  if (line.indexOf(0x0a) !== line.length - 1) throw invalid('something follows the line')
  try {
    return JSON.parse(line.toString('utf8')) as T
  } catch (cause) {
    throw invalid('not JSON', cause)
  }
}

/**
 * Calls back once when the parent is gone. Call it after readConfig(): it takes the descriptor over.
 * It does not keep the process alive.
 */
export function onParentGone(callback: () => void, fd = 3): void {
  const socket = new Socket({ fd, readable: true, writable: false })
  // An error of the descriptor (the parent's end was reset) is also followed by 'close'.
  socket.on('error', () => socket.destroy())
  socket.once('close', callback)
  socket.resume()
  socket.unref()
}

const invalid = (detail: string, cause?: unknown): ErgonError =>
  baseFault('config_invalid', `Could not read the configuration of the process: ${detail}`, {
    cause,
  })
