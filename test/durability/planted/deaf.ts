// Planted: errors of writing and syncing a blob or a journal are not heard.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { fileDisk } from '#blobs/disk.ts'

const create = fileDisk.create
Object.assign(fileDisk, {
  async create(path: string) {
    const file = await create(path)
    return {
      write: (chunks: readonly Buffer[], at: number) =>
        file.write(chunks, at).catch(() => undefined),
      sync: () => file.sync().catch(() => undefined),
      close: () => file.close().catch(() => undefined),
    }
  },
})

const writeSync = fs.writeSync as (...args: unknown[]) => number
fs.writeSync = ((...args: unknown[]) => {
  try {
    return writeSync(...args)
  } catch {
    return (args[1] as Uint8Array).length
  }
}) as typeof fs.writeSync
const fdatasync = fs.fdatasync
fs.fdatasync = ((fd: number, callback: (error: null) => void) =>
  fdatasync(fd, () => callback(null))) as typeof fs.fdatasync
syncBuiltinESMExports()
