// The lock of all works that reserve room of the disk. Each of them checks the room that the others leave, so there is one
// lock for pulls and restores, which run as different users.
import { chmodSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the lock in a data folder. The cells of those works read the folder. */
export const roomLockFolder = (dataFolder: string): string => join(dataFolder, 'room')

export const roomLock = (dataFolder: string): string => join(roomLockFolder(dataFolder), 'lock')

/** Makes the file in its folder. Everybody may read and so lock it, and nobody else may change it. */
export function makeRoomLock(dataFolder: string): void {
  const path = roomLock(dataFolder)
  closeSync(openSync(path, 'a'))
  chmodSync(path, 0o644)
}
