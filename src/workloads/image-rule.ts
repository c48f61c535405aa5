// Which images accounts may name. A registry on a private address, and a file of the machine, are those that the
// operator names: a name in a request must not make the service read a file that its caller cannot.
import { realpathSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { parseImageReference, type ImageReference } from '#images/reference.ts'

export type ImageSettings = {
  /** Hosts with ports; with `http://` before them, without TLS. */
  readonly privateRegistries: readonly string[]
  /** The folder of images of `oci:` and `docker-archive:`; null: none. */
  readonly imageFolder: string | null
}

/** Throws image_refused. */
export function allowedImage(
  text: string,
  { imageFolder }: Pick<ImageSettings, 'imageFolder'>,
): ImageReference {
  const reference = readReference(text)
  if (reference.kind === 'registry' || isBelow(resolve(reference.path), imageFolder))
    return reference
  throw refusedFile(text)
}

/** The same behind links, where the files can be read: a link out of the folder is refused as another path is. */
export function assertInside(
  reference: ImageReference,
  { imageFolder }: Pick<ImageSettings, 'imageFolder'>,
): void {
  if (reference.kind === 'registry' || imageFolder === null) return
  const real = realPath(reference.path)
  if (real !== undefined && !isBelow(real, realPath(imageFolder) ?? null))
    throw refusedFile(reference.path)
}

const isBelow = (path: string, folder: string | null): boolean =>
  folder !== null && path.startsWith(`${folder.replace(/\/+$/, '')}${sep}`)

/** Undefined where there is nothing. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function readReference(text: string): ImageReference {
  try {
    return parseImageReference(text)
  } catch (error) {
    if (!(error instanceof ErgonError)) throw error
    throw fault('image_refused', error.message, { param: 'image' })
  }
}

const refusedFile = (text: string) =>
  fault(
    'image_refused',
    `Could not use the image "${text.slice(0, 200)}": images in files are those of the operator's folder`,
    { param: 'image' },
  )

const HTTP = 'http://'

export const isPrivateRegistry = (
  registry: string,
  { privateRegistries }: Pick<ImageSettings, 'privateRegistries'>,
): boolean => privateRegistries.some((one) => one.replace(HTTP, '') === registry)

export const isPlainRegistry = (
  registry: string,
  { privateRegistries }: Pick<ImageSettings, 'privateRegistries'>,
): boolean => privateRegistries.includes(`${HTTP}${registry}`)
