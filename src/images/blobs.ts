// The blobs of a pull: each by its digest, there whole or not at all. The folder is of one pull alone.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { sleep } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Descriptor } from '#contract/workloads/images.ts'
import type { PullPace } from './pull-pace.ts'
import type { ImageSource } from './source.ts'

const TRIES = 5
const RETRY_MS = 500

export const digestHex = (digest: string): string => digest.slice('sha256:'.length)

/** The bytes of a blob that are not in the folder. */
export const missingBytes = async (
  folder: string,
  { digest, size }: Descriptor,
): Promise<number> => {
  const path = join(folder, digestHex(digest))
  return existsSync(path) ? 0 : size - usedBytes(await bytesOf(`${path}.part`), size)
}

const bytesOf = (path: string): Promise<number> =>
  stat(path).then(
    (found) => found.size,
    () => 0,
  )

/** The bytes of a part file that the next try goes on behind: one with all of them was not of the digest. */
const usedBytes = (had: number, size: number): number => (had < size ? had : 0)

/** Brings a blob into the folder; its path. The next try uses the bytes that came before a failure. */
export async function fetchBlob(
  folder: string,
  source: ImageSource,
  descriptor: Descriptor,
  {
    pace,
    signal,
    wrote = () => undefined,
    retryMs = RETRY_MS,
  }: {
    readonly pace: PullPace
    readonly signal: AbortSignal
    /** Called with the bytes that came to the disk. */
    readonly wrote?: (bytes: number) => void
    readonly retryMs?: number
  },
): Promise<string> {
  const path = join(folder, digestHex(descriptor.digest))
  const part = `${path}.part`
  if (existsSync(path)) return path
  await pace.keep(async (ending) => {
    for (let tries = 1; ; tries++)
      try {
        return await append(source, descriptor, { part, pace, wrote }, ending)
      } catch (error) {
        const code = error instanceof ErgonError ? error.code : 'registry_unreachable'
        if (code === 'image_damaged') await rm(part, { force: true })
        const isFinal = code !== 'registry_unreachable'
        if (tries === TRIES || isFinal || ending.aborted) throw error
        await sleep(retryMs * 2 ** tries, ending)
      }
  }, signal)
  await rename(part, path)
  return path
}

/** Completes the part file and checks it. Throws image_damaged where it is not of the digest. */
async function append(
  source: ImageSource,
  descriptor: Descriptor,
  {
    part,
    pace,
    wrote,
  }: {
    readonly part: string
    readonly pace: PullPace
    readonly wrote: (bytes: number) => void
  },
  signal: AbortSignal,
): Promise<void> {
  const { digest, size } = descriptor
  const had = usedBytes(await bytesOf(part), size)
  const { from, bytes } = await pace.wait(source.blob(descriptor, had, signal))
  const hash = createHash('sha256')
  let at = from
  if (from > 0) await pipeline(createReadStream(part), hash, { end: false, signal })
  async function* received(chunks: AsyncIterable<Buffer>) {
    try {
      yield* pace.count(chunks)
    } catch (cause) {
      if (source.isLocal || signal.aborted) throw cause
      throw brokeOff(messageOf(cause), cause)
    }
  }
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      at += chunk.length
      if (at > size) throw damaged(digest)
      hash.update(chunk)
      wrote(chunk.length)
      yield chunk
    }
  }
  await pipeline(
    received(bytes),
    counted,
    createWriteStream(part, { flags: from > 0 ? 'a' : 'w', flush: true }),
    { signal },
  )
  if (at < size && !source.isLocal) throw brokeOff('it is short')
  if (at < size || `sha256:${hash.digest('hex')}` !== digest) throw damaged(digest)
}

const brokeOff = (why: string, cause?: unknown) =>
  fault('registry_unreachable', `Could not pull the image: a blob broke off: ${why}`, { cause })

const damaged = (digest: string) =>
  fault('image_damaged', `Could not use the image: a blob is not ${digest}`)
