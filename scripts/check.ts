// npm run check: format, lint, types, dead code and the tree's own rules, all of them every time.
import { spawnSync } from 'node:child_process'

const STEPS: [string, ...string[]][] = [
  ['oxfmt', '--check', '.'],
  ['oxlint', '--quiet'],
  ['tsc', '--noEmit'],
  ['knip'],
  ['node', 'scripts/tidy.ts'],
]

let failed = 0
for (const [command, ...args] of STEPS) {
  const started = performance.now()
  const done = spawnSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (done.status === 0) {
    process.stdout.write(`check: ${command} ok (${seconds} s)\n`)
    continue
  }
  failed++
  process.stdout.write(`check: ${command} failed (${seconds} s)\n${done.stdout}${done.stderr}\n`)
}
if (failed > 0) process.exit(1)
