// Loaded before a program whose memory counts: node --import …/warm-cache.mjs program.ts. With an empty
// compile cache the program would strip its types itself, and the stripper would keep 10 MiB of it for
// as long as it runs: at the first start on a data folder, all five signers. So another process strips
// them first and ends. Plain JavaScript: what this file needs would be there already.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const TIMEOUT_MS = 15_000
// The program ends at once, as it is given no configuration; by then all of it is loaded.
const LOAD = `
  import { flushCompileCache } from 'node:module'
  await import(process.argv[1]).catch(() => undefined)
  flushCompileCache()
  process.exit(0)`

const folder = getCompileCacheDir()
const [, program] = process.argv
const isCold = folder !== undefined && !(existsSync(folder) && readdirSync(folder).length > 0)
if (isCold && program !== undefined)
  // Whatever becomes of it: without the cache the program runs too, only larger.
  spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', LOAD, pathToFileURL(resolve(program)).href],
    {
      stdio: 'ignore',
      timeout: TIMEOUT_MS,
    },
  )
