#!/usr/bin/env node
// The command line's door: plain JavaScript, because the Node that runs it may be too old to strip
// types; it then hands over to the pinned one beside it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

const pinned = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
if (Number(process.versions.node.split('.')[0]) >= 24) {
  // Where `npm start` keeps it; somebody who may not write there goes without.
  enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)))
  const { run } = await import('./program.ts')
  await run(process.argv)
} else if (existsSync(pinned)) {
  const done = spawnSync(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  process.exit(done.status ?? 1)
} else {
  process.stderr.write('ergon: the packages are not installed: run `npm start` or `npm ci` first\n')
  process.exit(1)
}
