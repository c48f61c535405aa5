// A place where initdb can run. It refuses root and wants its user in /etc/passwd, so as root it runs
// as nobody, who must be able to reach its programs and its folder.
import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { chmod, cp, lchown, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { openFolders } from '#artifacts/files.ts'

import type { FileOwner } from './copy-cluster.ts'
import { postgresFault } from './faults.ts'

export type Scratch = AsyncDisposable & {
  /** Private to the user that initdb runs as. */
  readonly folder: string
  readonly binFolder: string
  /** The user that initdb must run as; absent for our own user. */
  readonly user?: FileOwner
}

const PREFIX = 'ergon-initdb-'

/**
 * A private folder and reachable programs; disposing of it removes what it made. The file `record`
 * names the folder meanwhile: what a killed process left is removed by the next one.
 */
export async function openScratch(binFolder: string, record: string): Promise<Scratch> {
  const user = process.geteuid?.() === 0 ? await unprivilegedUser() : undefined
  if (existsSync(record)) await removeScratch(await readFile(record, 'utf8'), record)
  const root = join(temporaryFolder(user), `${PREFIX}${randomUUID()}`)
  await writeFile(record, root, { flush: true })
  await mkdir(root, { mode: 0o700 })
  const remove = () => removeScratch(root, record)
  try {
    if (user === undefined) return { folder: root, binFolder, [Symbol.asyncDispose]: remove }
    // A clone or data folder under a closed home is the usual case for root: then initdb runs from a
    // copy, as nothing else works in every container (user namespaces and mounts are often refused).
    const programs = isReachable(binFolder) ? binFolder : await copyPrograms(binFolder, root)
    await lchown(root, user.uid, user.gid)
    return { folder: root, binFolder: programs, user, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function removeScratch(root: string, record: string): Promise<void> {
  if (basename(root).startsWith(PREFIX) && existsSync(root)) {
    // Nothing is done as root in a folder where another process of nobody could change things.
    if (process.geteuid?.() === 0) await lchown(root, 0, 0)
    await rm(root, { recursive: true, force: true })
  }
  await rm(record, { force: true })
}

async function copyPrograms(binFolder: string, root: string): Promise<string> {
  const target = join(root, 'server')
  await cp(await realpath(dirname(binFolder)), target, { recursive: true, verbatimSymlinks: true })
  await openFolders(target)
  await chmod(root, 0o700)
  return join(target, 'bin')
}

function temporaryFolder(user: FileOwner | undefined): string {
  if (user === undefined) return tmpdir()
  const places = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm']
  const found = places.find((place) => existsSync(place) && isReachable(place))
  if (found !== undefined) return found
  throw postgresFault(
    'postgres_not_initialised',
    `No temporary folder that all users reach: ${places.join(', ')}`,
  )
}

/** True when a user without rights of its own may enter a folder. */
function isReachable(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false
  return dirname(folder) === folder || isReachable(dirname(folder))
}

async function unprivilegedUser(): Promise<FileOwner> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n')
  const users = lines.map((line) => line.split(':')).filter(([, , uid]) => Number(uid) > 0)
  const nobody = users.find(([name]) => name === 'nobody') ?? users[0]
  if (nobody === undefined)
    throw postgresFault(
      'postgres_not_initialised',
      'initdb needs a user that is not root: /etc/passwd has none',
    )
  return { uid: Number(nobody[2]), gid: Number(nobody[3]) }
}
