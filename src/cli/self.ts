// The files that `ergon self install` writes for one user: the launcher, and completion for the installed shells.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { launcherFolder, launcherText, withMark, ownerOf } from '#base/launcher.ts'
import type { CommandCall } from './call.ts'
import { CLONE } from './clone.ts'
import { completionScript, SHELLS, type Shell } from './completion.ts'
import { environment } from './environment.ts'

type OwnFile = { readonly path: string; readonly text: string; readonly mode: number }
export type OwnFiles = {
  readonly launcher: OwnFile
  readonly completions: readonly (OwnFile & { readonly shell: Shell })[]
}

/** Every file of an installation; `--dir` says where the launcher goes. */
export function ownFiles({ options, usages }: CommandCall): OwnFiles {
  const { home } = environment()
  const folder = typeof options['dir'] === 'string' ? options['dir'] : launcherFolder(home)
  return {
    launcher: { path: join(resolve(folder), 'ergon'), text: launcherText(CLONE), mode: 0o755 },
    completions: SHELLS.map((shell) => ({
      shell,
      path: completionPath(shell),
      text: withMark(completionScript(shell, usages)),
      mode: 0o644,
    })),
  }
}

/** Where each shell looks for scripts of its user; zsh only when its `fpath` has the folder. */
function completionPath(shell: Shell): string {
  const { dataHome, configHome } = environment()
  const paths: Record<Shell, string> = {
    bash: join(dataHome, 'bash-completion/completions/ergon'),
    zsh: join(dataHome, 'zsh/site-functions/_ergon'),
    fish: join(configHome, 'fish/completions/ergon.fish'),
  }
  return paths[shell]
}

export const pathFolders = (): readonly string[] => environment().path.split(delimiter)

export const isShellHere = (shell: Shell): boolean =>
  pathFolders().some((folder) => existsSync(join(folder, shell)))

/** Writes a file in one step. False, and nothing is changed, where somebody else's file is. */
export function put({ path, text, mode }: OwnFile): boolean {
  if (ownerOf(path) === 'foreign') return false
  mkdirSync(dirname(path), { recursive: true })
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, text, { mode })
  renameSync(fresh, path)
  return true
}

/** Removes a file of ours; false where there is none. */
export function remove({ path }: OwnFile): boolean {
  if (ownerOf(path) !== 'ours') return false
  rmSync(path)
  return true
}
