#!/usr/bin/env node
// The entry point of the command line. Plain JavaScript, because the system's Node may be too old to strip types:
// this file starts the pinned Node beside it, and imports no name that Node 20 lacks.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const pinned = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
if (Number(process.versions.node.split('.')[0]) >= 24) {
  // Where `npm start` keeps it; somebody who may not write there goes without.
  nodeModule.enableCompileCache(
    fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)),
  )
  const { runCommandLine } = await import('./program.ts')
  await runCommandLine(process.argv)
} else if (existsSync(pinned)) {
  const words = [fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn(pinned, words, { stdio: 'inherit' })
  // The terminal sends these signals to the child too, and the child says how it ends; `kill` reaches this process
  // alone.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
  child.once('error', (error) => {
    process.stderr.write(`ergon: ${error.message}\n`)
    process.exit(1)
  })
} else {
  process.stderr.write('ergon: the packages are not installed: run `npm start` or `npm ci` first\n')
  process.exit(1)
}
