// Paths inside the root folder of an image. Links are followed as a process sees them whose root folder that is, so no
// link and no name leads out.
import { chmodSync, lstatSync, mkdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fault } from '#contract/errors.ts'

const PATH_BYTES_MAX = 4096
const NAME_BYTES_MAX = 255
/** Names of a path: a folder is made for each that is absent. */
const PARTS_MAX = 128
const LINKS_MAX = 40
const FOLDER_MODE = 0o755

/** The parts of the name of an entry; none for the root itself. Throws image_hostile. */
export function entryParts(name: string): readonly string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (Buffer.byteLength(name) > PATH_BYTES_MAX) throw hostile('a name is too long')
  if (parts.length > PARTS_MAX) throw hostile(`a name has more than ${PARTS_MAX} parts`)
  for (const part of parts) {
    if (part === '..') throw hostile(`an entry leads out of it: ${shownName(name)}`)
    if (part.includes('\0') || Buffer.byteLength(part) > NAME_BYTES_MAX)
      throw hostile(`a name cannot be one: ${shownName(name)}`)
  }
  return parts
}

/**
 * The folder of these parts; made where it is absent, in place of a file too. `charge` is called before each folder that is
 * made, and may throw. Throws image_hostile for a circle.
 */
export function folderInside(root: string, parts: readonly string[], charge: () => void): string {
  const left = [...parts]
  let at: string[] = []
  let links = 0
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      at.pop()
      continue
    }
    const path = join(root, ...at, part)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink() === true) {
      if (++links > LINKS_MAX)
        throw hostile(`its links lead in circles: ${shownName(parts.join('/'))}`)
      const target = readlinkSync(path)
      if (target.startsWith('/')) at = []
      left.unshift(...target.split('/'))
      continue
    }
    if (found?.isDirectory() !== true) {
      charge()
      if (found !== undefined) rmSync(path)
      mkdirSync(path)
      // Layers of some builders name no folders; the mask of the process must not close them.
      chmodSync(path, FOLDER_MODE)
    }
    at.push(part)
  }
  return join(root, ...at)
}

export const hostile = (why: string) => fault('image_hostile', `Could not unpack the image: ${why}`)

/** The beginning of a name, for a message. */
export const shownName = (name: string): string => JSON.stringify(name.slice(0, 120))
