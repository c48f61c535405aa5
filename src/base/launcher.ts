// The command `ergon` outside the project's folder: a small script in a folder of PATH that runs the command line of
// one clone with that clone's pinned Node.js. A start prints its name, and `ergon self` writes it.
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const MARK = 'written by `ergon self install`; `ergon self uninstall` removes it'

/** Where a launcher goes when nobody says another folder; a folder of PATH on most systems. */
export const launcherFolder = (home: string): string => join(home, '.local', 'bin')

/** The command line of a clone, as a path that can be run. */
export const commandOf = (clone: string): string => shellWord(join(clone, 'src/cli/ergon.mjs'))

/** Marks a file of ours, by a comment that a shell understands. */
export const withMark = (text: string): string => `${text.trimEnd()}\n# ${MARK}\n`

export const launcherText = (clone: string): string =>
  withMark(`#!/bin/sh
node=${shellWord(join(clone, 'node_modules/.bin/node'))}
[ -x "$node" ] || node=node
exec "$node" ${commandOf(clone)} "$@"`)

/** The owner of a file: nobody (absent), ours (written by `ergon self install`), or foreign. */
export function ownerOf(path: string): 'nobody' | 'ours' | 'foreign' {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'nobody'
  return found.isFile() && readFileSync(path, 'utf8').includes(MARK) ? 'ours' : 'foreign'
}

/** True when one of the folders has the launcher of this clone. */
export const isLaunched = (clone: string, folders: readonly string[]): boolean =>
  folders
    .map((folder) => join(folder, 'ergon'))
    .some((path) => ownerOf(path) === 'ours' && readFileSync(path, 'utf8') === launcherText(clone))

/** As one word of a command of sh, bash, zsh or fish. */
export const shellWord = (text: string): string =>
  /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
