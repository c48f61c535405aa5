// Planted: the journal says that it was synced.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const done = (_fd: number, callback: (error: null) => void) => void setImmediate(callback, null)
fs.fdatasync = done as typeof fs.fdatasync
syncBuiltinESMExports()
