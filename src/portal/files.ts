// The console's build in memory: read whole when its mark changes, so that no page has files of two builds. Each file may
// have compressed forms beside it (.br, .gz), which the build has made.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { Places } from './page-places.ts'

/** Written last by a build. */
export const BUILT_FILE = '.built'
const LOOK_EVERY_MS = 1000
/** The greatest size of a build, compressed forms included. */
const BYTES_MAX = 64 * 1024 * 1024
const FILES_MAX = 4000

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
}

export type SiteFile = {
  readonly type: string
  readonly etag: string
  readonly bytes: Buffer
  readonly br: Buffer | undefined
  readonly gz: Buffer | undefined
}

/** The files by their path below the site, from a slash on. */
export type SiteFiles = ReadonlyMap<string, SiteFile>

/** The newest build; undefined before the first one. Looks for a newer one once a second. */
export function createFiles(deps: {
  readonly folder: string
  /** The texts for the places of pages. */
  readonly places: Places
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
}): () => Promise<SiteFiles | undefined> {
  const { folder, places, clock, log } = deps
  let mark: string | undefined
  let files: SiteFiles | undefined
  let lookedMs = -Infinity
  let looking: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    const found = await readFile(join(folder, BUILT_FILE), 'utf8').catch(() => undefined)
    if (found === undefined || found === mark) return
    try {
      files = filled(readBuild(folder), places)
      mark = found
    } catch (error) {
      log.error('The build of the console could not be read; the one of before stays', { error })
    }
  }

  return async () => {
    const nowMs = clock.monotonicMs()
    if (nowMs - lookedMs >= LOOK_EVERY_MS) {
      lookedMs = nowMs
      looking = look()
    }
    await looking
    return files
  }
}

const PLACE = /\{([a-z_]+)\}/g

/** Fills the places of pages; a page that has one is compressed anew. */
function filled(files: SiteFiles, places: Places): SiteFiles {
  return new Map(
    [...files].map(([path, file]) => {
      if (extname(path) !== '.html') return [path, file]
      const page = file.bytes.toString()
      const text = page.replaceAll(PLACE, (place, name: string) => escaped(places[name] ?? place))
      if (text === page) return [path, file]
      const bytes = Buffer.from(text)
      const br = file.br && brotliCompressSync(bytes)
      const gz = file.gz && gzipSync(bytes)
      return [path, { ...file, etag: etagOf(bytes), bytes, br, gz }]
    }),
  )
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const etagOf = (bytes: Buffer): string =>
  `"${createHash('sha256').update(bytes).digest('base64url')}"`

/** At once: 305 files of 2.3 MB take 6 ms so, and 45 ms of CPU one after the other by the threads of Node. */
function readBuild(folder: string): SiteFiles {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
  if (paths.length > FILES_MAX) throw new RangeError(`too many files: ${paths.length}`)
  const read = new Map<string, Buffer>()
  let bytes = 0
  for (const path of paths) {
    const content = readFileSync(join(folder, path))
    bytes += content.length
    if (bytes > BYTES_MAX) throw new RangeError(`too large: more than ${BYTES_MAX} bytes`)
    read.set(path.replaceAll(sep, '/'), content)
  }
  return new Map(
    [...read]
      .filter(([path]) => TYPES[extname(path)] !== undefined)
      .map(([path, content]) => [
        path,
        {
          type: TYPES[extname(path)] ?? '',
          etag: etagOf(content),
          bytes: content,
          br: read.get(`${path}.br`),
          gz: read.get(`${path}.gz`),
        },
      ]),
  )
}
