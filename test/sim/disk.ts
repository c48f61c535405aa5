// A disk in memory that tells what is written from what is durable. kill -9 keeps all that was
// written; a power cut keeps what was synced, and of the rest whatever it likes.
import { present } from '#base/errors.ts'
import type { Disk, DiskFile } from '#charging/disk.ts'

type Write = { bytes: Buffer; position: number }
type Stored = { durable: Buffer; pending: Write[] }

export type DiskFaults = {
  /** Called at each write and sync, before it; throws to make it fail. */
  before(act: 'write' | 'sync' | 'create' | 'remove'): void
  /** Calls back when a sync is done. */
  later(done: () => void): void
}

export class MemoryDisk implements Disk {
  readonly #files = new Map<string, Stored>()
  faults: DiskFaults

  constructor(faults: DiskFaults) {
    this.faults = faults
  }

  list(): string[] {
    return [...this.#files.keys()].toSorted()
  }

  read(name: string): Buffer {
    const { durable, pending } = present(this.#files.get(name), `no file ${name}`)
    const bytes = Buffer.from(durable)
    for (const write of pending) write.bytes.copy(bytes, write.position)
    return bytes
  }

  create(name: string, head: Uint8Array, size: number): DiskFile {
    this.faults.before('create')
    if (this.#files.has(name)) throw new RangeError(`The file exists: ${name}`)
    const durable = Buffer.alloc(size)
    durable.set(head)
    this.#files.set(name, { durable, pending: [] })
    return this.#file(name)
  }

  remove(name: string): void {
    this.faults.before('remove')
    this.#files.delete(name)
  }

  rename(name: string, to: string): void {
    const stored = present(this.#files.get(name), `no file ${name}`)
    this.#files.set(to, stored)
    this.#files.delete(name)
  }

  /** Power is cut: each write that was not synced is kept or lost by itself. */
  cutPower(keep: () => boolean): void {
    for (const stored of this.#files.values()) {
      for (const write of stored.pending)
        if (keep()) write.bytes.copy(stored.durable, write.position)
      stored.pending = []
    }
  }

  #file(name: string): DiskFile {
    const stored = present(this.#files.get(name), `no file ${name}`)
    let open = true
    const use = () => {
      if (!open) throw new RangeError(`The file is closed: ${name}`)
    }
    return {
      name,
      write: (bytes, position) => {
        use()
        this.faults.before('write')
        stored.pending.push({ bytes: Buffer.from(bytes), position })
      },
      sync: () =>
        new Promise((resolve, reject) => {
          use()
          this.faults.before('sync')
          const writes = stored.pending.slice()
          this.faults.later(() => {
            if (!open) return reject(new RangeError(`The file was closed under a sync: ${name}`))
            for (const write of writes) write.bytes.copy(stored.durable, write.position)
            stored.pending = stored.pending.filter((write) => !writes.includes(write))
            resolve()
          })
        }),
      close: () => {
        use()
        open = false
      },
    }
  }
}
