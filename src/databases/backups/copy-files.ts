// A copy of the files of a running server (BASE_BACKUP): a tar archive in pieces. The server compares the checksum of
// each page that it reads.
import type { Queryable, StateAddress } from '#state/connect.ts'
import { openReplication } from '#state/replication.ts'
import type { SealedBlobs } from './sealed-blobs.ts'
import { copyMessage } from './wire.ts'

export type FilesCopied = {
  /** Bytes of all files. */
  readonly bytes: number
  readonly timeline: number
  /** A restore needs the log between these. */
  readonly begin: string
  readonly end: string
}

/** Bytes of a piece of the archive, before compression. */
const PIECE_BYTES = 268_435_456
const COPY = "BASE_BACKUP (LABEL 'ergon', PROGRESS, CHECKPOINT 'fast', WAIT false, MANIFEST 'no')"
const KIB = 1024

/**
 * Stores the files as parts of a backup. `report` hears the bytes that are read and the expected number. Throws the
 * server's error, also for a page with a wrong checksum, and the errors of SealedBlobs.put().
 */
export async function copyFiles(
  deps: { readonly state: Queryable; readonly blobs: SealedBlobs },
  from: { readonly backup: string; readonly address: StateAddress },
  report: (doneBytes: number, totalBytes?: number) => void,
  signal: AbortSignal,
): Promise<FilesCopied> {
  await using replication = await openReplication(from.address)
  const copy = replication.copy(COPY)
  signal.addEventListener('abort', () => copy.fail(signal.reason), { once: true })
  const bytes = bytesOf(copy.messages, report)
  for (let number = 0, next = await bytes.next(); next.done !== true; number++) {
    async function* piece(): AsyncGenerator<Buffer> {
      for (let size = 0; next.done !== true && size < PIECE_BYTES; next = await bytes.next()) {
        signal.throwIfAborted()
        size += next.value.length
        yield next.value
      }
    }
    const { blob, size, key } = await deps.blobs.put(piece(), signal)
    await deps.state.query('select keep_part($1, $2, $3, $4, $5)', [
      from.backup,
      number,
      JSON.stringify(blob),
      size,
      JSON.stringify(key),
    ])
  }
  const [begun, spaces, ended] = await copy.results()
  const files = (spaces ?? []).reduce((sum, space) => sum + Number(space['size']) * KIB, 0)
  report(files, files)
  return {
    bytes: files,
    timeline: Number(begun?.[0]?.['tli']),
    begin: String(begun?.[0]?.['recptr']),
    end: String(ended?.[0]?.['recptr']),
  }
}

async function* bytesOf(
  messages: AsyncIterable<Buffer>,
  report: (doneBytes: number) => void,
): AsyncGenerator<Buffer, void> {
  for await (const message of messages) {
    const said = copyMessage(message)
    if (said?.kind === 'progress') report(said.doneBytes)
    else if (said !== undefined) yield said.bytes
  }
}
