// The files of a pack: read with a limit, and held to the manifest.
import { createHash } from 'node:crypto'

export const MANIFEST = 'manifest.sha256'
export const SIGNATURE = 'manifest.tlog-proof'
const FILE_BYTES_MAX = 256 * 1024 * 1024

/** Why a pack does not hold: `file` is the one that is wrong. */
export class PackError extends Error {
  name = 'PackError'
  constructor(file, detail) {
    super(`${file}: ${detail}`)
    this.file = file
  }
}

export async function bytesOf(files, name) {
  if (!files.names.includes(name)) throw new PackError(name, 'it is missing')
  const pieces = []
  let size = 0
  for await (const piece of await files.read(name)) {
    pieces.push(piece)
    size += piece.length
    if (size > FILE_BYTES_MAX) throw new PackError(name, 'it is too large')
  }
  return Buffer.concat(pieces)
}
export const textOf = async (files, name) => (await bytesOf(files, name)).toString('utf8')

export async function jsonOf(files, name) {
  try {
    const value = JSON.parse(await textOf(files, name))
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    if (error instanceof PackError) throw error
  }
  throw new PackError(name, 'it is no JSON object')
}

export async function checkManifest(files) {
  const names = new Set(files.names)
  names.delete(MANIFEST)
  names.delete(SIGNATURE)
  const hashes = new Map()
  for (const line of (await textOf(files, MANIFEST)).split('\n').slice(0, -1)) {
    const [, hash, name] = /^([0-9a-f]{64}) {2}([\w./-]+)$/.exec(line) ?? []
    if (name === undefined || hashes.has(name)) throw new PackError(MANIFEST, `bad line: ${line}`)
    if (!names.delete(name)) throw new PackError(name, 'it is missing')
    hashes.set(name, hash)
  }
  for (const name of names) throw new PackError(name, 'it is not in the manifest')
  for (const [name, hash] of hashes) {
    const sum = createHash('sha256')
    for await (const piece of await files.read(name)) sum.update(piece)
    if (sum.digest('hex') !== hash)
      throw new PackError(name, 'its SHA-256 is not the one in the manifest')
  }
  return hashes
}
