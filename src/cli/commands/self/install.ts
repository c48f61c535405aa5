// ergon self install: the command `ergon` for every folder, and its completion.
import { dirname } from 'node:path'
import { shellWord } from '#base/launcher.ts'
import type { CommandCall } from '#cli/call.ts'
import { environment } from '#cli/environment.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { isShellHere, ownFiles, pathFolders, put } from '#cli/self.ts'

export async function run(call: CommandCall): Promise<void> {
  const { launcher, completions } = ownFiles(call)
  if (!put(launcher))
    throw new CommandError(
      `Another program has this name, and stays: ${launcher.path}`,
      EXIT.failed,
      'ergon self install --dir <another folder of PATH>',
    )
  const tried = completions.filter(({ shell }) => isShellHere(shell))
  const written = tried.filter(put)
  const left = tried.filter((one) => !written.includes(one))
  const folder = dirname(launcher.path)
  const isOnPath = pathFolders().includes(folder)
  const lines = [
    ...(isOnPath ? [] : [pathLine(folder)]),
    ...written.flatMap(({ shell, path }) =>
      isOwn(shell) && shell === 'zsh' ? [zshLine(dirname(path))] : [],
    ),
  ]
  if (call.options.json)
    return printJson({
      command: launcher.path,
      on_path: isOnPath,
      completions: written.map(({ path }) => path),
      left: left.map(({ path }) => path),
      to_add: lines,
    })
  tell(`ergon is ${launcher.path}`)
  for (const { shell, path } of written) tell(`completion for ${shell} is ${path}`)
  if (written.some(({ shell }) => shell === 'bash' && isOwn(shell)))
    tell('completion in bash needs the package bash-completion: apt install bash-completion')
  for (const { path } of left) tell(`somebody else’s file stays: ${path}`)
  if (!isOnPath) tell(`${folder} is not on PATH`)
  if (lines.length > 0) tell(`add once, and open a new terminal:`)
  for (const line of lines) tell(`  ${line}`)
}

/** True for the login shell of the user. */
const isOwn = (shell: string): boolean => environment().shell.endsWith(`/${shell}`)

/** The line that puts a folder on PATH, for the user's own shell. */
function pathLine(folder: string): string {
  const { shell } = environment()
  if (shell.endsWith('fish')) return `fish_add_path ${shellWord(folder)}`
  const file = shell.endsWith('zsh') ? '.zshrc' : '.bashrc'
  return `echo ${shellWord(`export PATH=${shellWord(folder)}:"$PATH"`)} >> ~/${file}`
}

const zshLine = (folder: string): string =>
  `echo ${shellWord(`fpath=(${shellWord(folder)} $fpath); autoload -Uz compinit; compinit`)} >> ~/.zshrc   # completion for zsh`
