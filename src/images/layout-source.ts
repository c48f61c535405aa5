// Images in files: a layout of OCI as a folder or a tar, and an archive of `docker save`.
import { hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar-stream'
import type { DiskRoom } from '#base/disk-room.ts'
import { fault } from '#contract/errors.ts'
import { layoutIndex, savedImages } from '#contract/workloads/images.ts'
import {
  IMAGE_DOCUMENT_BYTES_MAX,
  parsedDocument,
  parseConfig,
  imageTooLarge,
  imageUnsupported,
} from './manifest.ts'
import { imageBeyondDisk } from './quota-fault.ts'
import { imageText, type LocalReference } from './reference.ts'
import type { ImageSource } from './source.ts'

const TAG = 'org.opencontainers.image.ref.name'
const ENTRIES_MAX = 10_000
const NAME_MAX = 200
/** In a refusal. */
const TAGS_SHOWN = 5
const TAG_LENGTH_MAX = 128

export type LayoutLimits = {
  /** A folder for the files of archives while they are read. */
  readonly scratch: string
  readonly bytesMax: number
  /** The room of the disk that has the files. */
  readonly room: DiskRoom
}

/**
 * Opens a layout or an archive. Throws image_not_found, image_too_large or image_unsupported, and workload_failed where the
 * disk has no room for the files of the archive.
 */
export async function openLayout(
  reference: LocalReference,
  limits: LayoutLimits,
  signal: AbortSignal,
): Promise<ImageSource> {
  const found = await stat(reference.path).catch(() => undefined)
  if (found === undefined) throw notFound(reference, 'there is no such file or folder')
  const isFolder = found.isDirectory()
  if (isFolder && reference.kind === 'docker-archive')
    throw imageUnsupported(`${reference.path} is a folder, not an archive of docker save`)
  if (!isFolder && !(await limits.room.reserve(Math.min(found.size, limits.bytesMax))))
    throw imageBeyondDisk(imageText(reference))
  const folder = isFolder ? reference.path : await unpacked(reference.path, limits, signal)
  const fileOf: FileOf = (name) => join(folder, isFolder ? name : flat(name))
  const close = async () => {
    if (!isFolder) await rm(folder, { recursive: true, force: true })
  }
  try {
    const kind = reference.kind === 'oci' ? layoutImage : archiveImage
    const image = await kind(fileOf, reference)
    return {
      isLocal: true,
      root: () => Promise.resolve(image.root),
      blob: ({ digest }, from) =>
        Promise.resolve({
          from,
          bytes: createReadStream(fileOf(image.nameOf(digest)), { start: from }),
        }),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type FileOf = (name: string) => string
type LocalImage = { readonly root: Buffer; readonly nameOf: (digest: string) => string }

/** An image of a layout. Source: OCI image-spec 1.1, "Image Layout". */
async function layoutImage(fileOf: FileOf, reference: LocalReference): Promise<LocalImage> {
  const { tag } = reference
  const { manifests } = await documentOf(fileOf('index.json'), layoutIndex)
  const nameOf = (digest: string) => `blobs/sha256/${digest.slice('sha256:'.length)}`
  const chosen = manifests.find(
    ({ annotations }) => tag === undefined || annotations?.[TAG] === tag,
  )
  if (chosen === undefined)
    throw noSuchTag(
      reference,
      manifests.flatMap(({ annotations }) => annotations?.[TAG] ?? []),
    )
  return { root: await bytesOf(fileOf(nameOf(chosen.digest))), nameOf }
}

/** An image of an archive of `docker save`, whose layers are named by the digest without compression. */
async function archiveImage(fileOf: FileOf, reference: LocalReference): Promise<LocalImage> {
  const { tag } = reference
  const images = await documentOf(fileOf('manifest.json'), savedImages)
  const chosen = images.find(
    ({ RepoTags }) => tag === undefined || RepoTags?.some((name) => name.endsWith(`:${tag}`)),
  )
  if (chosen === undefined)
    throw noSuchTag(
      reference,
      images.flatMap(({ RepoTags }) => RepoTags ?? []).map((name) => name.replace(/.*:/, '')),
    )
  const config = await bytesOf(fileOf(chosen.Config))
  const { diffIds } = parseConfig(config)
  if (diffIds.length !== chosen.Layers.length)
    throw imageUnsupported('its configuration has other layers than its archive')
  const files = new Map(diffIds.map((digest, nth) => [digest, chosen.Layers[nth] ?? '']))
  const configDigest = `sha256:${hash('sha256', config)}`
  const sizeOf = async (name: string) => (await stat(fileOf(name))).size
  const layers = await Promise.all(
    [...files].map(async ([digest, name]) => ({ digest, size: await sizeOf(name) })),
  )
  files.set(configDigest, chosen.Config)
  const root = { config: { digest: configDigest, size: config.length }, layers }
  return { root: Buffer.from(JSON.stringify(root)), nameOf: (digest) => files.get(digest) ?? '' }
}

const notFound = (reference: LocalReference, why: string) =>
  fault('image_not_found', `Could not find the image ${imageText(reference)}: ${why}`)

function noSuchTag(reference: LocalReference, tags: readonly string[]) {
  const shown = tags.slice(0, TAGS_SHOWN).map((tag) => `"${tag.slice(0, TAG_LENGTH_MAX)}"`)
  const found = shown.length === 0 ? 'no tag' : `the tags ${shown.join(', ')}`
  return notFound(reference, `it has ${tags.length === 1 ? found.replace('tags', 'tag') : found}`)
}

type DocumentSchema<T> = {
  safeParse(given: unknown): { success: true; data: T } | { success: false }
}

/** Throws image_unsupported where the file is absent, too large, or not of the schema. */
async function documentOf<T>(path: string, schema: DocumentSchema<T>): Promise<T> {
  const parsed = schema.safeParse(parsedDocument(await bytesOf(path)))
  if (parsed.success) return parsed.data
  throw imageUnsupported(`${basename(path)} is not what an image has`)
}

async function bytesOf(path: string): Promise<Buffer> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw imageUnsupported(`it has no ${basename(path)}`)
  if (found.size > IMAGE_DOCUMENT_BYTES_MAX)
    throw imageUnsupported(`its ${basename(path)} is too large`)
  return await readFile(path)
}

/**
 * The files of an archive in a new folder, only those with a name of a layout. They have no more bytes than the archive,
 * whose room is reserved.
 */
async function unpacked(path: string, limits: LayoutLimits, signal: AbortSignal): Promise<string> {
  const folder = await mkdtemp(join(limits.scratch, 'archive-'))
  const entries = extract()
  let bytes = 0
  let count = 0
  const write = async () => {
    for await (const entry of entries) {
      const { name, type, size = 0 } = entry.header
      bytes += size
      if (bytes > limits.bytesMax) throw imageTooLarge(limits.bytesMax)
      if (++count > ENTRIES_MAX)
        throw imageUnsupported(`its archive has more than ${ENTRIES_MAX} files`)
      const kept = flat(name.replace(/^\.\//, ''))
      if (type !== 'file' || kept.length > NAME_MAX) entry.resume()
      else await pipeline(entry, createWriteStream(join(folder, kept)), { signal })
    }
  }
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      limits.room.wrote(chunk.length)
      yield chunk
    }
  }
  try {
    const reading = pipeline(createReadStream(path), counted, entries, { signal })
    await Promise.all([reading, write()])
    return folder
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error instanceof Error && /tar|unexpected end/i.test(error.message)
      ? imageUnsupported(`${path} is not a tar archive`)
      : error
  }
}

/** One name for a path in an archive: no path of an archive leads anywhere. */
const flat = (name: string): string => `file-${name.replaceAll('/', '_')}`
