// Builds the portal into portal/dist, with a .br and a .gz beside each file, and the hash of its sources in
// portal/dist/.built. Ends at once where that hash is unchanged.
//
//   node portal/build.ts [--force]
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { filesToRemove } from './old-files.ts'
import { hashSources, ROOT } from './sources.ts'

const DIST = join(ROOT, 'dist')
const BUILT = join(DIST, '.built')
/** Compressed already. */
const DENSE = new Set(['.woff2'])

const hash = hashSources()
if (process.argv.includes('--force') || readBuilt() !== hash) await rebuild()
else console.log('portal: unchanged')

async function rebuild(): Promise<void> {
  const started = performance.now()
  // The start of a service tells it at once: a build takes minutes on a busy machine.
  console.log('portal: building')
  // Loaded here: most starts find nothing to build.
  const { build } = await import('vite')
  const { config } = await import('./config.ts')
  const fresh = join(ROOT, `dist-${process.pid}`)
  try {
    await build({ ...config, logLevel: 'warn', build: { ...config.build, outDir: fresh } })
    await compressAll(fresh)
    publish(fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  console.log(`portal: built in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

/** Puts the files in place, pages last: each page then names only files that are there. */
function publish(fresh: string): void {
  const names = filesUnder(fresh).toSorted(
    (one, other) => Number(isPage(one)) - Number(isPage(other)),
  )
  for (const name of names) {
    mkdirSync(dirname(join(DIST, name)), { recursive: true })
    renameSync(join(fresh, name), join(DIST, name))
  }
  const kept = new Set([...names, '.built'])
  const files = filesUnder(DIST).map((name) => ({
    name,
    changedMs: statSync(join(DIST, name)).mtimeMs,
  }))
  for (const name of filesToRemove(files, kept, Date.now())) rmSync(join(DIST, name))
  writeFileSync(`${BUILT}.new`, hash)
  renameSync(`${BUILT}.new`, BUILT)
}

async function compressAll(folder: string): Promise<void> {
  await Promise.all(
    filesUnder(folder)
      .filter((name) => !DENSE.has(extname(name)))
      .map((name) => compress(join(folder, name))),
  )
}

async function compress(path: string): Promise<void> {
  const bytes = readFileSync(path)
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes, { params }))
  writeFileSync(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
}

function isPage(name: string): boolean {
  return /\.html(\.(br|gz))?$/.test(name)
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

function readBuilt(): string | undefined {
  try {
    return readFileSync(BUILT, 'utf8')
  } catch {
    return undefined
  }
}
