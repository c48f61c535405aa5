// Copies a tree of files to a new place, for another owner, durably.
import { chmod, copyFile, lchown, mkdir, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { postgresFault } from './faults.ts'

export type FileOwner = { readonly uid: number; readonly gid: number }

/** Files and folders only, which is all that initdb makes; modes are kept. `to` must not exist. */
export async function copyOwned(
  from: string,
  to: string,
  owner: FileOwner | undefined,
): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  for (const name of await readdir(from, { withFileTypes: true })) {
    const source = join(from, name.name)
    const target = join(to, name.name)
    if (name.isDirectory()) await copyOwned(source, target, owner)
    else if (name.isFile()) await copyFileOwned(source, target, owner)
    else throw postgresFault('postgres_not_initialised', `Neither a file nor a folder: ${source}`)
  }
  await settle(to, (await stat(from)).mode, owner)
}

async function copyFileOwned(
  from: string,
  to: string,
  owner: FileOwner | undefined,
): Promise<void> {
  await copyFile(from, to)
  await settle(to, (await stat(from)).mode, owner)
}

async function settle(path: string, mode: number, owner: FileOwner | undefined): Promise<void> {
  if (owner !== undefined) await lchown(path, owner.uid, owner.gid)
  await chmod(path, mode & 0o777)
  await using handle = await open(path, 'r')
  await handle.sync()
}
