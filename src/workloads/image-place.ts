// Where images lie on a node: those of a repository in a folder of its own. A registry checks who may pull from which
// repository, so an image of another one that names the same digests must not open what this one has given.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { digestHex } from '#images/blobs.ts'
import { parseImageReference } from '#images/reference.ts'
import type { PulledImageName } from './driver.ts'

/**
 * Folders of a repository's images: the unpacked ones, and a folder for the files of each pull, which has the root folder
 * that the pull has unpacked.
 */
export const IMAGE_FILES = { roots: 'roots', pulls: 'pulls', whole: 'whole' } as const

const KEY_LENGTH = 16
/** Images in files, which the operator opens to everybody. */
const FILES = 'files'

/** The key of the repository of an image, in hex. */
function placeKeyOf(image: string): string {
  const reference = parseImageReference(image)
  const from =
    reference.kind === 'registry' ? `${reference.registry}/${reference.repository}` : FILES
  return hash('sha256', from).slice(0, KEY_LENGTH)
}

/** The folder of a repository's images below that of all images. */
export const imageFolderOf = (folder: string, image: string): string =>
  join(folder, placeKeyOf(image))

/** The unpacked root folder of an image that is pulled. */
export const imageRootOf = (folder: string, { image, digest }: PulledImageName): string =>
  join(imageFolderOf(folder, image), IMAGE_FILES.roots, digestHex(digest))

/** The folder for the files of a pull, by the name of its cell. */
export const pullFolderOf = (
  folder: string,
  { image }: Pick<PulledImageName, 'image'>,
  cell: string,
) => join(imageFolderOf(folder, image), IMAGE_FILES.pulls, cell)

/** The root folder that a pull has unpacked. */
export const wholeRootOf = (work: string, digest: string): string =>
  join(work, IMAGE_FILES.whole, digestHex(digest))

/** A word for an image that is pulled; its digest in hex is behind the last hyphen. */
export const imageWordOf = ({ image, digest }: PulledImageName): string =>
  `${placeKeyOf(image)}-${digestHex(digest)}`
