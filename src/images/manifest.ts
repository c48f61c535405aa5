// The parts of an image, read from its documents.
import { fault } from '#contract/errors.ts'
import {
  imageConfig,
  imageDocument,
  LAYERS_MAX,
  type Descriptor,
  type ImageIndex,
  type Manifest,
} from '#contract/workloads/images.ts'

export const IMAGE_DOCUMENT_BYTES_MAX = 4_194_304

export const MEDIA_TYPES = {
  index: [
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.docker.distribution.manifest.list.v2+json',
  ],
  manifest: [
    'application/vnd.oci.image.manifest.v1+json',
    'application/vnd.docker.distribution.manifest.v2+json',
  ],
} as const

/** The process that an image describes. */
export type ImageConfig = {
  /** SHA-256 of each layer without its compression, the lowest layer first. */
  readonly diffIds: readonly string[]
  readonly command: readonly string[]
  readonly entrypoint: readonly string[]
  /** `NAME=value`. */
  readonly env: readonly string[]
  readonly folder: string
  /** Ports of TCP, ascending. */
  readonly ports: readonly number[]
  readonly stopSignal: string
}

/** The platform of this machine in OCI's words. */
export const PLATFORM = { os: 'linux', architecture: process.arch === 'arm64' ? 'arm64' : 'amd64' }

/** A document whose bytes are an index, or a manifest. Throws image_unsupported. */
export function parseManifest(bytes: Buffer): Manifest | ImageIndex {
  const document = parsedDocument(bytes)
  const parsed = imageDocument.safeParse(document)
  if (parsed.success) return parsed.data
  const { layers } = Object(document) as { readonly layers?: unknown }
  if (Array.isArray(layers) && layers.length > LAYERS_MAX)
    throw imageUnsupported(`it has more than ${LAYERS_MAX} layers`)
  throw imageUnsupported('its manifest is neither an index nor a manifest of an image')
}

/** The manifest for this machine. Throws image_unsupported. */
export function chosenManifest(manifests: readonly Descriptor[]): Descriptor {
  const found =
    manifests.find(
      ({ platform }) =>
        platform?.os === PLATFORM.os && platform.architecture === PLATFORM.architecture,
    ) ?? (manifests.length === 1 && manifests[0]?.platform === undefined ? manifests[0] : undefined)
  if (found !== undefined) return found
  const others = manifests.map(({ platform: at }) => at && `${at.os}/${at.architecture}`)
  const known = [...new Set(others)].filter(
    (name) => name !== undefined && !name.includes('unknown'),
  )
  throw imageUnsupported(
    `it is not made for ${PLATFORM.os}/${PLATFORM.architecture}, but for ${known.join(', ') || 'no platform'}`,
  )
}

/** Throws image_unsupported. */
export function parseConfig(bytes: Buffer): ImageConfig {
  const parsed = imageConfig.safeParse(parsedDocument(bytes))
  if (!parsed.success) throw imageUnsupported('its configuration is not that of an image')
  const { os, architecture, rootfs, config: process } = parsed.data
  if (os !== PLATFORM.os || architecture !== PLATFORM.architecture)
    throw imageUnsupported(`it is made for ${os}/${architecture}`)
  return {
    diffIds: rootfs.diff_ids,
    command: process?.Cmd ?? [],
    entrypoint: process?.Entrypoint ?? [],
    env: process?.Env ?? [],
    folder: process?.WorkingDir || '/',
    ports: Object.keys(process?.ExposedPorts ?? {})
      .flatMap((port) => (/^\d+(\/tcp)?$/.test(port) ? [Number.parseInt(port, 10)] : []))
      .toSorted((one, other) => one - other),
    stopSignal: process?.StopSignal ?? 'SIGTERM',
  }
}

/** Throws image_unsupported. */
export function parsedDocument(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw imageUnsupported('its manifest or configuration is not JSON')
  }
}

export const imageUnsupported = (why: string) =>
  fault('image_unsupported', `Could not use the image: ${why}`)

export const imageTooLarge = (bytesMax: number) =>
  fault('image_too_large', `Could not use the image: it has more than ${bytesMax} bytes`)
