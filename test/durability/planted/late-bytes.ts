// Planted: a blob's bytes are written a moment after they are said to be durable.
import { setTimeout as pause } from 'node:timers/promises'
import { type BlobDisk, fileDisk } from '#blobs/disk.ts'

const LATE_MS = 300
const create = fileDisk.create

const late: Pick<BlobDisk, 'create'> = {
  async create(path) {
    const file = await create(path)
    let work: Promise<void> = Promise.resolve()
    return {
      async write(chunks, position) {
        work = work.then(() => pause(LATE_MS)).then(() => file.write(chunks, position))
      },
      sync: async () => undefined,
      close: async () => void work.then(() => file.close()),
    }
  },
}
Object.assign(fileDisk, late)
