// Writes one body into one new file: chunks are gathered, and the next ones arrive and are summed while
// the last ones are being written.
import { createChecksum } from './checksum.ts'
import type { BlobWriter } from './disk.ts'
import { bodyTooLarge } from './faults.ts'

/** Bodies come in pieces of 64 KiB and less: four of them share a system call and a turn of the pool. */
const WRITE_SIZE_MIN = 256 * 1024

/**
 * Resolves when every byte was written (not yet synced). Throws what the body throws, `body_too_large`,
 * the signal's reason or the file's error.
 */
export async function writeBody(
  file: BlobWriter,
  body: AsyncIterable<Buffer>,
  options: { signal: AbortSignal; sizeMax: number },
): Promise<{ size: number; checksum: string }> {
  const { signal, sizeMax } = options
  const checksum = createChecksum()
  let size = 0
  let written = 0
  let gathered: Buffer[] = []
  let pending = Promise.resolve()
  const flush = async () => {
    await pending
    const chunks = gathered
    const position = written
    gathered = []
    written = size
    pending = file.write(chunks, position)
    // Its failure is thrown at the next flush; until then nobody awaits it.
    pending.catch(() => undefined)
  }
  try {
    for await (const chunk of body) {
      signal.throwIfAborted()
      size += chunk.length
      if (size > sizeMax) throw bodyTooLarge(sizeMax)
      checksum.update(chunk)
      gathered.push(chunk)
      if (size - written >= WRITE_SIZE_MIN) await flush()
    }
    signal.throwIfAborted()
    if (gathered.length > 0) await flush()
  } finally {
    // The file must not be closed under a write.
    await pending.catch(() => undefined)
  }
  await pending
  return { size, checksum: checksum.text() }
}
