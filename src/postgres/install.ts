// The one installer of PostgreSQL 16, for state and for customers' databases: the operator's own, the
// managed tree (server of npm, pgvector laid over it), or the bare tree. The rung is chosen once and
// written down; only an upgrade changes it. Not the running of a server (postgres-cell.ts), nor the
// product (databases/).
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describedError } from '#artifacts/faults.ts'
import type { Artifacts } from '#artifacts/fetch.ts'
import { openFolders, syncPath, syncTree } from '#artifacts/files.ts'
import type { ArtifactFiles } from '#artifacts/place.ts'
import { ErgonError } from '#base/errors.ts'
import { lockFile } from '#base/lock.ts'
import type { Logger } from '#base/log.ts'
import { CLIENT_TOOLS, INSTALL_RECORD, type RungChoice } from '#contract/databases/client-tools.ts'

import { limitExtensions } from './extensions.ts'
import { postgresFault } from './faults.ts'
import { type Layout, layoutOf } from './layout.ts'
import { SERVER_VERSION, copyPackageTree, findPackageTree } from './package-tree.ts'
import { layExplanation, layVector } from './vector-overlay.ts'

export type PostgresInstall = Layout & {
  readonly rung: 'own' | 'managed' | 'bare'
  /** The folders that a process of this server reads. */
  readonly reads: readonly string[]
  /** Where psql, pg_dump, pg_restore, pg_basebackup and pgbench are. They have no TLS when managed. */
  readonly clientTools?: string
  /** Why it is bare, in words for the status page. */
  readonly why?: string
}

export type InstallOptions = {
  /** `<data>/postgres` */
  readonly folder: string
  /** ERGON_PG_BIN: the folder of the operator's own programs. */
  readonly ownBinFolder?: string
  readonly artifacts: Pick<Artifacts, 'ensure'>
  readonly log: Logger
  readonly signal: AbortSignal
  /** Choose anew, as at a first start: `--pg-upgrade`. A failed fetch then changes nothing. */
  readonly upgrade?: boolean
  /** The folder of npm's files; found by Node's own resolution when absent. */
  readonly packageTree?: string
}

const VECTOR = 'pgvector-16'
/** A tree that is put together in another way has another name: the number grows with each change of it. */
const BARE_TREE = `${SERVER_VERSION}-2`
const UPGRADE = 'start once with --pg-upgrade'

/**
 * The PostgreSQL of a data folder, assembled first where it is absent. Throws postgres_missing, postgres_version,
 * postgres_install_changed (the configured PostgreSQL is not that of the data folder) or postgres_install_damaged.
 */
export async function installPostgres(options: InstallOptions): Promise<PostgresInstall> {
  const { folder, signal } = options
  await mkdir(folder, { recursive: true })
  await using _ = await lockFile(join(folder, '.install.lock'), signal)
  const before = options.upgrade === true ? undefined : await recorded(folder)
  if (before !== undefined) {
    demandSame(before, options)
    tellOfNewer(before, options.log)
  }
  const choice = before ?? (await choose(options))
  const install = await describe(choice, options)
  if (before === undefined) await record(folder, choice)
  return install
}

async function recorded(folder: string): Promise<RungChoice | undefined> {
  const path = join(folder, INSTALL_RECORD)
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(await readFile(path, 'utf8')) as RungChoice
  } catch (error) {
    throw postgresFault(
      'postgres_install_damaged',
      `Could not read what was installed, ${UPGRADE}: ${path}`,
      error,
    )
  }
}

function demandSame(before: RungChoice, { ownBinFolder, folder }: InstallOptions): void {
  const made = before.rung === 'own' ? before.binFolder : undefined
  if (made === ownBinFolder) return
  const was = made === undefined ? `the ${before.rung} PostgreSQL` : `ERGON_PG_BIN=${made}`
  const is = ownBinFolder === undefined ? 'no ERGON_PG_BIN' : `ERGON_PG_BIN=${ownBinFolder}`
  throw postgresFault(
    'postgres_install_changed',
    `This data folder was made with ${was} and there is ${is}, set it back or ${UPGRADE}: ${folder}`,
  )
}

/** A tree is kept until an upgrade, fixes of PostgreSQL included: that one waits is said at each start. */
function tellOfNewer(before: RungChoice, log: Logger): void {
  if (before.rung === 'own' || before.tree.startsWith(BARE_TREE)) return
  log.warn(`PostgreSQL ${SERVER_VERSION} is here, to use it ${UPGRADE}`, { inUse: before.tree })
}

async function choose(options: InstallOptions): Promise<RungChoice> {
  const { ownBinFolder, log } = options
  if (ownBinFolder !== undefined) return { rung: 'own', binFolder: ownBinFolder }
  try {
    const files = await options.artifacts.ensure(VECTOR, options.signal)
    return { rung: 'managed', tree: managedTree(files) }
  } catch (error) {
    const { signal, upgrade = false } = options
    if (!(error instanceof ErgonError) || signal.aborted || upgrade) throw error
    log.warn(`PostgreSQL without the extension vector; to mend it, ${UPGRADE}`, { error })
    return { rung: 'bare', tree: BARE_TREE, why: error.message }
  }
}

const managedTree = (files: ArtifactFiles) => `${BARE_TREE}-${files.name}-${files.version}`

async function describe(choice: RungChoice, options: InstallOptions): Promise<PostgresInstall> {
  if (choice.rung === 'own') {
    const layout = await layoutOf(choice.binFolder, options.signal)
    const { binFolder, libFolder, shareFolder } = layout
    const tools = existsSync(join(binFolder, 'psql')) ? { clientTools: binFolder } : {}
    return { ...layout, rung: 'own', reads: [binFolder, libFolder, shareFolder], ...tools }
  }
  const root = join(options.folder, choice.tree)
  if (!existsSync(root)) await assembleTree(choice.rung, root, options)
  const layout = await layoutOf(join(root, 'bin'), options.signal)
  if (choice.rung === 'managed')
    return { ...layout, rung: 'managed', reads: [root], clientTools: join(root, CLIENT_TOOLS) }
  const why = choice.why === undefined ? {} : { why: choice.why }
  // The files of the explanation are there, the extension is not.
  const { vectorVersion: _, ...bare } = layout
  return { ...bare, rung: 'bare', reads: [root], vector: false, ...why }
}

/** Makes a tree beside its place and renames it: it is there whole or not at all. */
async function assembleTree(
  rung: 'managed' | 'bare',
  root: string,
  options: InstallOptions,
): Promise<void> {
  const { folder, artifacts, signal, log } = options
  const source = options.packageTree ?? findPackageTree()
  if (source === undefined)
    throw postgresFault(
      'postgres_missing',
      `npm has no PostgreSQL for ${process.platform}-${process.arch}: install PostgreSQL 16 and set ERGON_PG_BIN`,
    )
  log.info('Assembling PostgreSQL', { rung, folder: root })
  for (const left of (await readdir(folder)).filter((name) => name.startsWith('.tree-')))
    await rm(join(folder, left), { recursive: true, force: true })
  const work = await mkdtemp(join(folder, '.tree-'))
  try {
    await copyPackageTree(source, work)
    await limitExtensions(work)
    if (rung === 'managed') await layVector(await artifacts.ensure(VECTOR, signal), work)
    else await layExplanation(work)
    await openFolders(work)
    await syncTree(work)
    await rename(work, root)
    await syncPath(folder)
  } catch (error) {
    throw describedError(error, `Could not assemble PostgreSQL in ${folder}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function record(folder: string, choice: RungChoice): Promise<void> {
  const fresh = join(folder, `.${INSTALL_RECORD}`)
  await writeFile(fresh, `${JSON.stringify(choice)}\n`, { flush: true })
  await rename(fresh, join(folder, INSTALL_RECORD))
  await syncPath(folder)
}
