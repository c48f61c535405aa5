// The zip file of a pack, written as it is read: one file after the other, in bounded memory, with the SHA-256 of each.
import { createHash } from 'node:crypto'
import { addAbortSignal, Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** Text or bytes in order. */
export type FileBytes = Iterable<string | Buffer> | AsyncIterable<string | Buffer>

export interface PackZip {
  /** The bytes of the file, to be read while files are added. */
  readonly bytes: AsyncIterable<Buffer>
  /** Adds a file; resolves when its bytes are read. Rejects with their error, or the signal's reason. */
  add(name: string, bytes: FileBytes): Promise<void>
  /** A line for each file: SHA-256 in hex, two spaces, name. As `sha256sum --check` reads it. */
  manifest(): string
  end(): void
  /** Ends the bytes with an error. */
  fail(error: Error): void
}

/** Random bytes are most of it: higher levels take twice the CPU for 2 % of the size. */
const LEVEL = 1

/** `madeAt` is the time of all files, so that equal content makes equal bytes. */
export function openPackZip(madeAt: Date, signal: AbortSignal): PackZip {
  const zip = new ZipFile()
  const lines: string[] = []
  const output = zip.outputStream as Readable
  // A store that takes nothing does not read it: its error, which fail() gives it, would end the process.
  output.on('error', () => undefined)
  return {
    bytes: output,
    async add(name, bytes) {
      const sum = createHash('sha256')
      async function* summed(): AsyncGenerator<Buffer> {
        for await (const piece of bytes) {
          const buffer = typeof piece === 'string' ? Buffer.from(piece) : piece
          sum.update(buffer)
          yield buffer
        }
      }
      const source = addAbortSignal(signal, Readable.from(summed(), { objectMode: false }))
      const read = new Promise<void>((resolve, reject) => {
        source.once('end', resolve).once('error', reject)
      })
      addOnce(zip, { source, name, madeAt })
      await read
      lines.push(`${sum.digest('hex')}  ${name}\n`)
    },
    manifest: () => lines.join(''),
    end: () => zip.end(),
    fail: (error) => void output.destroy(error),
  }
}

type ZipEntry = { source: Readable | undefined; readonly name: string; readonly madeAt: Date }

/** yazl keeps what gives it a file until the zip is written: the file itself must not stay with that. */
function addOnce(zip: ZipFile, entry: ZipEntry): void {
  const { name, madeAt: mtime } = entry
  const options = { mtime, mode: 0o100644, compressionLevel: LEVEL }
  zip.addReadStreamLazy(name, options, (give) => {
    const { source } = entry
    entry.source = undefined
    if (source !== undefined) give(null, source)
  })
}
