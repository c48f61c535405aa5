// Small files that survive a power cut: written beside, synced, renamed, and the folder synced.
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Replaces a file by text, whole or not at all. */
export function writeDurably(path: string, text: string, mode: number): void {
  const beside = `${path}.${process.pid}.new`
  const file = openSync(beside, 'w', mode)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
