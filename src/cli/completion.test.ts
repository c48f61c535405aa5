// Completion as each shell does it, where the shell is installed.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { COMMANDS } from './commands.ts'
import { completionScript, SHELLS, type Shell } from './completion.ts'

const isHere = (shell: string) =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, shell)))

/** Completes the last of the words after `ergon`. */
const ASKS: Record<Shell, (script: string, words: readonly string[]) => readonly string[]> = {
  bash: (script, words) => [
    '-c',
    `${script}\nCOMP_WORDS=(ergon ${words.join(' ')}); COMP_CWORD=${words.length}; _ergon; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Its own functions for completion are there at a prompt only.
  zsh: (script, words) => [
    '-fc',
    `compdef() {}\n${script}\ncompadd() { shift; print -l -- "$@" }; _files() {}\nwords=(ergon ${words.join(' ')}); CURRENT=${words.length + 1}; _ergon`,
  ],
  fish: (script, words) => ['-N', '-c', `${script}\ncomplete -C "ergon ${words.join(' ')}"`],
}

for (const shell of SHELLS)
  test(`${shell} completes words`, { skip: isHere(shell) ? false : `no ${shell}` }, () => {
    const script = completionScript(
      shell,
      COMMANDS.map(({ usage }) => usage),
    )
    const complete = (...words: string[]) =>
      execFileSync(shell, ASKS[shell](script, words), { encoding: 'utf8' })
        .split('\n')
        .filter((word) => word.startsWith(words.at(-1) ?? ''))
    assert.deepEqual(complete('admin', 'to'), ['token'])
    assert.deepEqual(complete('models', 'add', 'r'), [], 'what follows a command is no command')
    assert.ok(complete('s').includes('self'))
  })
