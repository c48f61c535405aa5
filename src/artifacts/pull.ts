// Brings a file from an https address, known by its SHA-256: a model that an operator names. A call continues the
// download of an interrupted call.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, get } from 'node:https'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { lockFile } from '#base/lock.ts'

import { artifactFault, describedError } from './faults.ts'
import { freeBytes, sizeOfFile, syncPath } from './files.ts'

export type PullOptions = {
  /** https: only; up to five redirects, https: too. */
  readonly url: string
  /** Lower-case hex; the file is kept under it. */
  readonly sha256: string
  readonly folder: string
  readonly signal: AbortSignal
  readonly progress?: (doneBytes: number, totalBytes: number | undefined) => void
  readonly sizeMaxBytes?: number
  /** Certificates to trust besides the system's own set. */
  readonly ca?: RequestOptions['ca']
}

const REDIRECTS_MAX = 5
const SILENCE_MAX_MS = 60_000
const SIZE_MAX_BYTES = 256 * 1024 ** 3
const SHA256 = /^[0-9a-f]{64}$/

/**
 * The file's path, `<folder>/<sha256>/<last part of the address>`. Throws artifact_unreachable,
 * artifact_mismatch (nothing of the file is kept then), storage_full or artifact_interrupted (what
 * has come is kept for the next call).
 */
export async function pullUrl(options: PullOptions): Promise<string> {
  const { sha256, folder, signal } = options
  if (!SHA256.test(sha256)) throw new TypeError(`Not a SHA-256 in lower-case hex: ${sha256}`)
  const url = httpsUrl(options.url)
  const home = join(folder, sha256)
  const path = join(home, nameOf(url))
  if ((await sizeOfFile(path)) !== undefined) return path
  try {
    await mkdir(home, { recursive: true })
    await using _ = await lockFile(join(home, '.lock'), signal)
    if ((await sizeOfFile(path)) !== undefined) return path
    await bring(url, join(home, '.part'), options)
    await rename(join(home, '.part'), path)
    await syncPath(home)
    await syncPath(folder)
  } catch (error) {
    throw describedError(error, `Could not fetch ${url.host}`)
  }
  return path
}

/** The last part of an address as a file name: decoded first, as an encoded slash is one too. */
function nameOf(url: URL): string {
  const name = basename(decodeURIComponent(url.pathname))
  return name === '' || name === '..' || name.includes('\0') ? 'file' : name
}

function httpsUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url
  throw artifactFault(
    'artifact_unreachable',
    `Only https addresses without a password can be fetched: ${text}`,
  )
}

/** Completes the part file and checks it. */
async function bring(url: URL, part: string, options: PullOptions): Promise<void> {
  const had = (await sizeOfFile(part)) ?? 0
  const hash = createHash('sha256')
  const answer = await request(url, had, options)
  const from = answer.statusCode === 206 ? had : 0
  if (from > 0) await pipeline(createReadStream(part), hash, { end: false, signal: options.signal })
  const totalBytes = await announcedBytes(answer, from, options)
  let doneBytes = from
  const most = options.sizeMaxBytes ?? SIZE_MAX_BYTES
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      doneBytes += chunk.length
      if (doneBytes > most)
        throw artifactFault('artifact_mismatch', `Larger than ${most} bytes: ${url.host}`)
      hash.update(chunk)
      options.progress?.(doneBytes, totalBytes)
      yield chunk
    }
  }
  const sink = createWriteStream(part, { flags: from > 0 ? 'a' : 'w', flush: true })
  await pipeline(answer, counted, sink, { signal: options.signal })
  if (hash.digest('hex') === options.sha256) return
  await rm(part)
  throw artifactFault(
    'artifact_mismatch',
    `The file has not the SHA-256 that was named: ${url.href}`,
  )
}

async function announcedBytes(
  answer: IncomingMessage,
  from: number,
  { folder, sizeMaxBytes = SIZE_MAX_BYTES }: PullOptions,
): Promise<number | undefined> {
  const length = answer.headers['content-length']
  if (length === undefined) return undefined
  const rest = Number(length)
  const free = await freeBytes(folder)
  const full = rest > free
  if (!full && from + rest <= sizeMaxBytes) return from + rest
  answer.destroy()
  if (full)
    throw artifactFault('storage_full', `${rest} bytes are to come, free are ${free} in ${folder}`)
  throw artifactFault('artifact_mismatch', `Larger than ${sizeMaxBytes} bytes: ${from + rest}`)
}

/** The answer with the bytes from `had` on (206) or with all of them (200), redirects followed. */
async function request(first: URL, had: number, options: PullOptions): Promise<IncomingMessage> {
  let url = first
  let from = had
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const answer = await requestOnce(url, from, options)
    const { statusCode = 0, headers } = answer
    if (statusCode === 200 || (statusCode === 206 && startsAt(headers['content-range'], from)))
      return answer
    answer.destroy()
    // The part is longer than the file, or the range was not honoured: from the start, then.
    if (statusCode === 416 || statusCode === 206) from = 0
    else if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined)
      url = httpsUrl(new URL(headers.location, url).href)
    else
      throw artifactFault('artifact_unreachable', `The server answered ${statusCode}: ${url.host}`)
  }
  throw artifactFault('artifact_unreachable', `More than ${REDIRECTS_MAX} redirects: ${first.host}`)
}

const startsAt = (range: string | undefined, from: number) =>
  range?.startsWith(`bytes ${from}-`) === true

function requestOnce(url: URL, from: number, options: PullOptions): Promise<IncomingMessage> {
  const headers = from > 0 ? { range: `bytes=${from}-` } : {}
  const { signal, ca } = options
  return new Promise((resolve, reject) => {
    const sent = get(url, { headers, signal, timeout: SILENCE_MAX_MS, ...(ca && { ca }) }, resolve)
    sent.once('timeout', () =>
      sent.destroy(
        artifactFault('artifact_unreachable', `No byte for ${SILENCE_MAX_MS} ms: ${url.host}`),
      ),
    )
    sent.once('error', (error) =>
      reject(
        signal.aborted
          ? error
          : artifactFault(
              'artifact_unreachable',
              `Could not reach ${url.host}: ${error.message}`,
              error,
            ),
      ),
    )
  })
}
