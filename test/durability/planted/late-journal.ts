// Planted: records of the journal are written a moment after their figures have left.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const LATE_MS = 2000
// A segment's zeros and head are written as they should be.
const RECORD_BYTES_MAX = 8192
const HEADER_BYTES = 64
const writeSync = fs.writeSync as (...args: unknown[]) => number

function late(...args: unknown[]): number {
  const [, bytes, , , position] = args
  const isRecord =
    bytes instanceof Uint8Array &&
    bytes.length <= RECORD_BYTES_MAX &&
    typeof position === 'number' &&
    position >= HEADER_BYTES
  if (!isRecord) return writeSync(...args)
  setTimeout(() => writeSync(...args), LATE_MS)
  return bytes.length
}
fs.writeSync = late as typeof fs.writeSync
syncBuiltinESMExports()
