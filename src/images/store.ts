// One pull of an image: its root folder, whole among the files of the pull, from where the agent takes it to the images.
import { hash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { fault } from '#contract/errors.ts'
import type { Descriptor, Manifest } from '#contract/workloads/images.ts'
import {
  chosenManifest,
  IMAGE_DOCUMENT_BYTES_MAX,
  parseConfig,
  parseManifest,
  imageTooLarge,
  imageUnsupported,
  type ImageConfig,
} from './manifest.ts'
import { digestHex, fetchBlob, missingBytes } from './blobs.ts'
import { createPullPace, type PullPace, type PullPaceLimits } from './pull-pace.ts'
import { diskBytes, syncDisk } from './disk-bytes.ts'
import type { DiskRoom } from '#base/disk-room.ts'
import { inodeBytesOf } from '#base/tenant-room.ts'
import { imageBeyondDisk, imageBeyondQuota } from './quota-fault.ts'
import { imageText, parseImageReference, type ImageReference } from './reference.ts'
import type { ImageSource } from './source.ts'
import { unpackLayer, type Layer, type UnpackRoom } from './unpack.ts'

export type ImageStoreOptions = {
  /** The folder of all images of a repository: its subfolder `roots` has the images that are there already. */
  readonly folder: string
  /** The folder for the files of this pull is on the same disk; its folder `whole` gets the root folder. */
  readonly work: string
  readonly open: (reference: ImageReference, signal: AbortSignal) => Promise<ImageSource>
  /** Of an image without compression; its layers as they come have no more either. */
  readonly bytesMax?: number
  /** Of those, what the account has left, before any of its images go. */
  readonly quotaBytes?: number
  readonly entriesMax?: number
  readonly room: DiskRoom
  /** The pace of pulls from registries, which tests shorten. */
  readonly pace?: PullPaceLimits
}

export type PulledImage = {
  /** The digest of its manifest for this machine. */
  readonly digest: string
  readonly config: ImageConfig
  /** The root folder, read-only for its cells. */
  readonly root: string
  /** The part of the disk that it takes; see diskBytes(). */
  readonly bytes: number
}

export type PullProgress = { readonly doneBytes: number; readonly totalBytes: number }

export interface ImageStore {
  /**
   * The image on this node, fetched where it is absent. All other files of the pull are gone afterwards; those of a pull
   * that failed are used by the next one. Throws the image_… and registry_… codes.
   */
  pull(
    text: string,
    signal: AbortSignal,
    progress?: (now: PullProgress) => void,
  ): Promise<PulledImage>
}

const GIB = 1024 ** 3
export const IMAGE_BYTES_MAX = 8 * GIB
export const IMAGE_ENTRIES_MAX = 500_000
/** In a pull of 512 MB, 500,000 paths of so many bytes together take 300 MB at worst (measured). */
export const LAYER_PATH_BYTES_MAX = 67_108_864
/** Room for files is kept so far ahead of them. */
const AHEAD_BYTES = 16_777_216

export function createImageStore(options: ImageStoreOptions): ImageStore {
  const { bytesMax = IMAGE_BYTES_MAX, work, room } = options
  const blobs = join(work, 'blobs')
  const whole = join(work, 'whole')
  const roots = join(options.folder, 'roots')
  return {
    async pull(text, signal, progress) {
      const reference = parseImageReference(text)
      for (const folder of [blobs, whole, roots]) await mkdir(folder, { recursive: true })
      // The source of an archive has files too, which take their room of it.
      await using _ = room
      await using source = await options.open(reference, signal)
      const pace = createPullPace(options.pace)
      const read: ReadDocument = (descriptor) =>
        readDocument({ blobs, source, pace }, descriptor, signal)
      const first = await pace.keep((ending) => pace.wait(source.root(ending)), signal)
      const { digest, manifest } = await manifestOf(reference, first, read)
      const config = parseConfig(await read(manifest.config))
      if (config.diffIds.length !== manifest.layers.length)
        throw imageUnsupported('its configuration has other layers than its manifest')
      const shared = join(roots, digestHex(digest))
      const root = existsSync(shared) ? shared : join(whole, digestHex(digest))
      if (!existsSync(root)) {
        const { layers } = manifest
        const totalBytes = layers.reduce((sum, { size }) => sum + size, 0)
        if (totalBytes > bytesMax) throw imageTooLarge(bytesMax)
        const { quotaBytes = bytesMax } = options
        if (totalBytes > quotaBytes) throw imageBeyondQuota(text, { roomBytes: quotaBytes })
        const missing = await Promise.all(layers.map((one) => missingBytes(blobs, one)))
        if (!(await room.reserve(missing.reduce((sum, one) => sum + one, 0))))
          throw imageBeyondDisk(text)
        const fetched: Layer[] = []
        let doneBytes = 0
        for (const [nth, layer] of layers.entries()) {
          const path = await fetchBlob(blobs, source, layer, { pace, signal, wrote: room.wrote })
          fetched.push({ open: () => createReadStream(path), diffId: config.diffIds[nth] ?? '' })
          progress?.({ doneBytes: (doneBytes += layer.size), totalBytes })
        }
        await room.give()
        const inodeBytes = inodeBytesOf(await statfs(work))
        const unpacked = unpackRoom(options, { text, inodeBytes })
        await unpackRoot(root, fetched, unpacked, { work, signal })
      }
      await rm(blobs, { recursive: true, force: true })
      return { digest, config, root, bytes: await diskBytes(root, signal) }
    },
  }
}

/** The room is kept while files are unpacked, as no document says how large they are. */
function unpackRoom(
  {
    bytesMax = IMAGE_BYTES_MAX,
    quotaBytes = bytesMax,
    entriesMax = IMAGE_ENTRIES_MAX,
    room,
  }: ImageStoreOptions,
  { text, inodeBytes }: { readonly text: string; readonly inodeBytes: number },
): UnpackRoom {
  let keptBytes = 0
  const most = Math.min(bytesMax, quotaBytes)
  return {
    bytes: most,
    inodesBytes: most,
    inodeBytes,
    entries: entriesMax,
    layerPathBytes: LAYER_PATH_BYTES_MAX,
    tooLarge: () =>
      quotaBytes < bytesMax
        ? imageBeyondQuota(text, { roomBytes: quotaBytes })
        : imageTooLarge(bytesMax),
    async wrote(bytes) {
      room.wrote(Math.min(bytes, keptBytes))
      keptBytes -= bytes
      if (keptBytes >= 0) return
      if (!(await room.reserve(AHEAD_BYTES - keptBytes))) throw imageBeyondDisk(text)
      room.wrote(-keptBytes)
      keptBytes = AHEAD_BYTES
    },
  }
}

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
  { work, signal }: { readonly work: string; readonly signal: AbortSignal },
): Promise<void> {
  const beside = join(work, 'root')
  await rm(beside, { recursive: true, force: true })
  await mkdir(beside)
  try {
    for (const layer of layers) await unpackLayer(layer, beside, room, signal)
    // A power cut may keep the name of a folder and lose the bytes of its files.
    await syncDisk(beside, signal)
    await rename(beside, root)
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}
