// The images of a node: blobs by their digest, which several images share, and a root folder for each image.
import { hash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '#base/lock.ts'
import { tenantRoom } from '#base/tenant-room.ts'
import { fault } from '#contract/errors.ts'
import type { Descriptor, Manifest } from '#contract/images.ts'
import {
  chosenManifest,
  IMAGE_DOCUMENT_BYTES_MAX,
  parseConfig,
  parseManifest,
  imageTooLarge,
  imageUnsupported,
  type ImageConfig,
} from './manifest.ts'
import { fetchBlob, digestHex } from './blobs.ts'
import { createPullPace, type PullPace, type PullPaceLimits } from './pull-pace.ts'
import { pruneImages } from './prune.ts'
import { imageText, parseImageReference, type ImageReference } from './reference.ts'
import type { ImageSource } from './source.ts'
import { unpackLayer, type Layer, type UnpackRoom } from './unpack.ts'

export type ImageStoreOptions = {
  readonly folder: string
  readonly open: (reference: ImageReference, signal: AbortSignal) => Promise<ImageSource>
  /** Of an image without compression; its layers as they come have no more either. */
  readonly bytesMax?: number
  readonly entriesMax?: number
  /** Bytes that images may still take of the disk of a folder. */
  readonly roomOf?: (folder: string) => Promise<number>
  /** Of registries: tests are short. */
  readonly pace?: PullPaceLimits
}

export type PulledImage = {
  /** The digest of its manifest for this machine. */
  readonly digest: string
  readonly config: ImageConfig
  /** The root folder, read-only for its cells. */
  readonly root: string
}

export type PullProgress = { readonly doneBytes: number; readonly totalBytes: number }

export interface ImageStore {
  /** The image on this node, fetched where parts of it are absent. Throws the image_… and registry_… codes. */
  pull(
    text: string,
    signal: AbortSignal,
    progress?: (now: PullProgress) => void,
  ): Promise<PulledImage>
  /** Removes images but those of the digests, and all blobs, which are needed for unpacking alone. */
  prune(keep: ReadonlySet<string>): Promise<void>
}

const GIB = 1024 ** 3
const BYTES_MAX = 8 * GIB
const ENTRIES_MAX = 500_000

export function createImageStore(options: ImageStoreOptions): ImageStore {
  const { bytesMax = BYTES_MAX, entriesMax = ENTRIES_MAX, roomOf = tenantRoom } = options
  const blobs = join(options.folder, 'blobs')
  const roots = join(options.folder, 'roots')
  return {
    async pull(text, signal, progress) {
      const reference = parseImageReference(text)
      for (const folder of [blobs, roots]) await mkdir(folder, { recursive: true })
      await using source = await options.open(reference, signal)
      const pace = createPullPace(options.pace)
      const read: ReadDocument = (descriptor) =>
        readDocument({ blobs, source, pace }, descriptor, signal)
      const first = await pace.keep((ending) => pace.wait(source.root(ending)), signal)
      const { digest, manifest } = await manifestOf(reference, first, read)
      const config = parseConfig(await read(manifest.config))
      if (config.diffIds.length !== manifest.layers.length)
        throw imageUnsupported('its configuration has other layers than its manifest')
      const totalBytes = manifest.layers.reduce((sum, { size }) => sum + size, 0)
      if (totalBytes > bytesMax) throw imageTooLarge(bytesMax)
      const root = join(roots, digestHex(digest))
      if (existsSync(root)) return { digest, config, root }
      if (totalBytes > (await roomOf(options.folder))) throw noRoom(text)
      const layers: Layer[] = []
      let doneBytes = 0
      for (const [nth, layer] of manifest.layers.entries()) {
        const path = await fetchBlob(blobs, source, layer, { pace, signal })
        layers.push({ open: () => createReadStream(path), diffId: config.diffIds[nth] ?? '' })
        progress?.({ doneBytes: (doneBytes += layer.size), totalBytes })
      }
      const roomBytes = Math.max(0, await roomOf(options.folder))
      const room: UnpackRoom = {
        bytes: Math.min(bytesMax, roomBytes),
        entries: entriesMax,
        tooLarge: () => (roomBytes < bytesMax ? noRoom(text) : imageTooLarge(bytesMax)),
      }
      await unpackRoot(root, layers, room, signal)
      return { digest, config, root }
    },
    prune: (keep) => pruneImages(options.folder, keep),
  }
}

/** Not for good: images and data go. The version can be wanted again. */
const noRoom = (text: string) =>
  fault('workload_failed', `Could not pull "${text}": the disk of the node has no room for it`)

type ReadDocument = (descriptor: Descriptor) => Promise<Buffer>

async function readDocument(
  {
    blobs,
    source,
    pace,
  }: { readonly blobs: string; readonly source: ImageSource; readonly pace: PullPace },
  descriptor: Descriptor,
  signal: AbortSignal,
): Promise<Buffer> {
  if (descriptor.size > IMAGE_DOCUMENT_BYTES_MAX)
    throw imageUnsupported('a document of it is too large')
  return await readFile(await fetchBlob(blobs, source, descriptor, { pace, signal }))
}

/** The manifest for this machine, which the first document is or leads to. */
async function manifestOf(
  reference: ImageReference,
  root: Buffer,
  read: ReadDocument,
): Promise<{ readonly digest: string; readonly manifest: Manifest }> {
  const digest = `sha256:${hash('sha256', root)}`
  const named = reference.kind === 'registry' ? reference.digest : undefined
  if (named !== undefined && named !== digest)
    throw fault('image_damaged', `Could not use ${imageText(reference)}: its manifest is ${digest}`)
  const first = parseManifest(root)
  if (!('manifests' in first)) return { digest, manifest: first }
  const chosen = chosenManifest(first.manifests)
  const second = parseManifest(await read(chosen))
  if ('manifests' in second) throw imageUnsupported('its index leads to an index')
  return { digest: chosen.digest, manifest: second }
}

/** Unpacks beside the place: a root folder is there whole or not at all. */
async function unpackRoot(
  root: string,
  layers: readonly Layer[],
  room: UnpackRoom,
  signal: AbortSignal,
): Promise<void> {
  await using _ = await lockFile(`${root}.lock`, signal)
  if (existsSync(root)) return
  const beside = `${root}.new`
  await rm(beside, { recursive: true, force: true })
  await mkdir(beside)
  try {
    for (const layer of layers) await unpackLayer(layer, beside, room, signal)
    await rename(beside, root)
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    throw error
  }
}
