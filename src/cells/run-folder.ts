// The folder of an instance's sockets. Without root it is in /tmp, which is writable by all and where its name
// can be guessed. So it is created anew, and used only when this user owns it and no other may enter it. A user
// who could enter it could impersonate the state or the operator's API.
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { baseFault } from '#base/own-errors.ts'

/**
 * Makes it anew, 0711 where cells have uids of their own, else 0700. Throws `run_folder_taken` when
 * somebody else has put something there that we may not remove.
 */
export function makeRunFolder(path: string, hasOwnUids: boolean): void {
  const mode = hasOwnUids ? 0o711 : 0o700
  mkdirSync(dirname(path), { recursive: true })
  try {
    rmSync(path, { recursive: true, force: true })
    // Not recursive: it must not exist, not even as a link to somewhere.
    mkdirSync(path, { mode: 0o700 })
  } catch (cause) {
    throw taken(path, messageOf(cause), cause)
  }
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    if (!isOurs(fstatSync(folder))) throw taken(path, 'it was changed while it was made')
    // Whatever the umask is.
    fchmodSync(folder, mode)
  } finally {
    closeSync(folder)
  }
}

/** Nothing is left of a stopped instance. */
export const removeRunFolder = (path: string): void =>
  rmSync(path, { recursive: true, force: true })

/** True for a folder as mkdir(2) makes it for us: owned by us, and closed to all others until we open it. */
const isOurs = ({ uid, mode }: Stats) => uid === process.geteuid?.() && (mode & 0o077) === 0

const taken = (path: string, why: string, cause?: unknown) =>
  baseFault('run_folder_taken', `Could not make the folder of sockets: ${path}: ${why}`, { cause })
