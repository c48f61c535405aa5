// Planted: a blob gets its name when its bytes are synced, and the folder is not synced after that.
import { rename } from 'node:fs/promises'
import { fileDisk } from '#blobs/disk.ts'

const create = fileDisk.create

Object.assign(fileDisk, {
  async create(path: string) {
    const file = await create(`${path}.new`)
    return {
      ...file,
      async sync() {
        await file.sync()
        await rename(`${path}.new`, path)
      },
    }
  },
  syncFolder: async () => undefined,
})
