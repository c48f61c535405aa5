// npm run check: format, lint, types, dead code and the tree's own rules, all of them every time, side by side.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const STEPS: [string, ...string[]][] = [
  ['oxfmt', '--check', '.'],
  ['oxlint', '--quiet'],
  ['tsc', '--noEmit'],
  ['tsc', '--noEmit', '-p', 'portal'],
  ['knip'],
  ['node', 'scripts/tidy.ts'],
]

const areOk = await Promise.all(STEPS.map(check))
if (!areOk.every(Boolean)) process.exit(1)

/** Runs one of them and says how it ended, and what it said when it failed. */
async function check([command, ...args]: [string, ...string[]]): Promise<boolean> {
  const started = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], said, errors] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(
    code === 0
      ? `check: ${command} ok (${seconds} s)\n`
      : `check: ${command} failed (${seconds} s)\n${said}${errors}\n`,
  )
  return code === 0
}
