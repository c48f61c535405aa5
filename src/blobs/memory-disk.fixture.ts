// A disk in memory that knows what a power cut would leave: bytes that were synced, under names whose
// folder was synced. It fails or loses power at the n-th operation.
import { basename, dirname } from 'node:path'
import type { BlobDisk } from './disk.ts'

type File = { bytes: Buffer; durable: Buffer; writtenMs: number }
type Names = Map<string, File>

export type Fault = { readonly at: number; readonly code: 'EIO' | 'ENOSPC' | 'CUT' }

const failure = (code: string, message: string) => Object.assign(new TypeError(message), { code })

export class MemoryDisk implements BlobDisk {
  operations = 0
  reads = 0
  /** Files that are open for reading. */
  readers = 0
  fault: Fault | undefined
  /** A planted bug: names are not made durable. */
  forgetsNames = false
  freeBytes = 1000
  #names = new Map<string, Names>()
  #durable = new Map<string, Names>()
  #dead = false

  /** The content that a new start finds. */
  restart(): void {
    for (const [folder, names] of this.#durable)
      this.#names.set(
        folder,
        new Map([...names].map(([name, file]) => [name, { ...file, bytes: file.durable }])),
      )
    this.fault = undefined
    this.#dead = false
  }
  #step(): void {
    this.operations++
    if (this.#dead) throw failure('EIO', 'no power')
    if (this.operations !== this.fault?.at) return
    this.#dead = this.fault.code === 'CUT'
    throw failure(this.fault.code, 'injected')
  }
  #folder(path: string): Names {
    const names = this.#names.get(path)
    if (names === undefined) throw failure('ENOENT', path)
    return names
  }
  #file(path: string): File {
    const file = this.#folder(dirname(path)).get(basename(path))
    if (file === undefined) throw failure('ENOENT', path)
    return file
  }
  async makeFolder(path: string) {
    if (!this.#names.has(path)) this.#names.set(path, new Map())
    if (!this.#durable.has(path)) this.#durable.set(path, new Map())
  }
  async create(path: string) {
    this.#step()
    const file: File = { bytes: Buffer.alloc(0), durable: Buffer.alloc(0), writtenMs: 0 }
    this.#folder(dirname(path)).set(basename(path), file)
    return {
      write: async (chunks: readonly Buffer[], position: number) => {
        this.#step()
        file.bytes = Buffer.concat([file.bytes.subarray(0, position), ...chunks])
      },
      sync: async () => {
        this.#step()
        file.durable = file.bytes
      },
      close: async () => this.#step(),
    }
  }
  async open(path: string) {
    const file = this.#file(path)
    this.readers++
    return {
      size: file.bytes.length,
      read: async (buffer: Buffer, position: number) => {
        this.reads++
        return file.bytes.copy(buffer, 0, position)
      },
      close: async () => void this.readers--,
    }
  }
  async syncFolder(path: string) {
    if (path === '.' || path === 'blobs') return
    this.#step()
    if (!this.forgetsNames) this.#durable.set(path, new Map(this.#folder(path)))
  }
  async stat(path: string) {
    const { bytes, writtenMs } = this.#file(path)
    return { size: bytes.length, writtenMs }
  }
  async remove(path: string) {
    this.#step()
    this.#file(path)
    this.#folder(dirname(path)).delete(basename(path))
  }
  async *names(path: string) {
    yield* this.#folder(path).keys()
  }
  async space() {
    return { freeBytes: this.freeBytes, totalBytes: 1000 }
  }
}
