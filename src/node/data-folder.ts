// The data folder: its format, what it decided at the first start (ports, run folder), its secrets.
// Everything the product keeps is under it.
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeDurably } from '#base/durable-file.ts'
import { newEncryptionKey } from '#base/encryption.ts'
import { messageOf } from '#base/errors.ts'
import type { Config } from '#config/config.ts'
import { fault } from '#contract/errors.ts'
import type { LogTail } from '#base/log-tail.ts'
import type { ProgramPlace } from './cell-specs.ts'
import { claimPorts, type Ports } from './ports.ts'
import { makeRoomLock } from './room-lock.ts'

const FORMAT = 1
// A first start brings PostgreSQL (60 MB), a cluster and its WAL; every start makes a journal of 16 MiB for each
// gateway and two of 4.
const ROOM_AT_FIRST_MB = 250
const ROOM_LEAST_MB = 100

type Decided = {
  readonly format: number
  readonly created: string
  readonly port: number
  /** Absent in folders of before: chosen anew. */
  readonly pgPort?: number
  readonly runFolder: string
  /** The state that the journals in this folder are of; see state-identity.ts. */
  readonly stateId?: string
}
export type Secrets = {
  readonly postgres: string
  readonly mesh: string
  /** Encrypts what the state keeps of secrets. */
  readonly state: string
}

/** Where the folder and its sockets are. Only the holder of the folder's lock reads its content. */
export type OpenFolder = {
  readonly path: string
  /** Short and outside the data folder: socket paths must fit into 107 bytes. */
  readonly runFolder: string
  /** Those of a first start, claimed before anything is made; undefined where they were written down. */
  readonly ports: Ports | undefined
}

/** Where the bodies of objects are, as files. */
export const BLOB_FOLDER = 'blobs'

export type DataFolder = Omit<OpenFolder, 'ports'> & {
  /** API; portal, functions, mesh and the status page are the next four. */
  readonly port: number
  /** The database endpoint. */
  readonly pgPort: number
  readonly secrets: Secrets
  readonly firstStart: boolean
  /** Which state it belongs to; undefined until a start has written that down. */
  readonly stateId: string | undefined
  rememberState(id: string): void
  /** A folder inside, as a path. */
  at(...parts: string[]): string
  /** Gives up the ports. */
  close(): Promise<void>
}

// The first two hold one folder for each process, whose own it is.
const SHARED_FOLDERS = ['journals', 'signers', 'room']

/**
 * Makes the data folder where it is absent; throws `port_taken` before, `data_unmade`, `storage_full`. The folder's
 * content is read under its lock, by settleDataFolder().
 */
export async function openDataFolder(config: Config): Promise<OpenFolder> {
  // Where nothing was decided, nothing of an earlier life listens: a start that is refused leaves no folder.
  const isFirst = !existsSync(join(config.data, 'ergon.json'))
  const ports = isFirst ? await claimPorts(wantedPorts(config)) : undefined
  // Traversable by the uids of cells; the modes of its entries say which uid may read them.
  for (const folder of ['.', ...SHARED_FOLDERS].map((name) => join(config.data, name))) {
    try {
      makeFolder(folder)
      chmodSync(folder, 0o711)
    } catch (cause) {
      throw fault(
        'data_unmade',
        `Could not make the data folder ${config.data}: ${messageOf(cause)}`,
        { cause },
      )
    }
  }
  const path = realpathSync(config.data)
  demandRoom(path)
  makeRoomLock(path)
  return { path, runFolder: runFolderOf(path), ports }
}

/** Those that are set, or were chosen before. */
const wantedPorts = (
  { host, port, pgPort, testProcessorPort }: Config,
  known?: Pick<Decided, 'port' | 'pgPort'>,
): Parameters<typeof claimPorts>[0] => ({
  host,
  port: port ?? known?.port,
  pgPort: pgPort ?? known?.pgPort,
  named:
    testProcessorPort === undefined
      ? []
      : [{ port: testProcessorPort, flag: '--test-processor-port', use: 'the test processor' }],
})

/** One level at a time: Node's own `recursive` never returns where a folder below a parent that is there is ENOENT (/proc/x). */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, 0o711)
  } catch (error) {
    // Another start was faster: of two the lock lets one go on.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/**
 * Decides what the first start decides, or reads it. The lock of the folder is held, and nothing of an
 * earlier life is left: what listens on a port now is somebody else. Throws
 * `data_too_new`, `data_damaged`, `port_taken`.
 */
export async function settleDataFolder(
  { path, runFolder, ports: claimed }: OpenFolder,
  config: Config,
): Promise<DataFolder> {
  const file = join(path, 'ergon.json')
  const known = existsSync(file) ? readKnown(file) : undefined
  if (known !== undefined && known.format > FORMAT)
    throw fault(
      'data_too_new',
      `Could not use ${path}: a newer version wrote it (format ${known.format})`,
    )
  // First: a start that finds ergon.json makes no secrets.
  const secrets = openSecrets(join(path, 'secrets.json'), known === undefined)
  const ports = claimed ?? (await claimPorts(wantedPorts(config, known)))
  const decided: Decided = {
    format: FORMAT,
    created: known?.created ?? new Date().toISOString(),
    port: ports.port,
    pgPort: ports.pgPort,
    // The command line finds the control socket by it.
    runFolder,
    ...(known?.stateId === undefined ? {} : { stateId: known.stateId }),
  }
  const write = (what: Decided) => writeDurably(file, `${JSON.stringify(what, null, 2)}\n`, 0o600)
  write(decided)
  return {
    path,
    port: ports.port,
    pgPort: ports.pgPort,
    runFolder,
    secrets,
    firstStart: known === undefined,
    stateId: decided.stateId,
    rememberState: (stateId) => write({ ...decided, stateId }),
    at: (...parts) => join(path, ...parts),
    close: ports.release,
  }
}

/** The part of the data folder that our programs get. */
export const programPlace = (config: Config, data: DataFolder, logTail: LogTail): ProgramPlace => ({
  logTail,
  runFolder: data.runFolder,
  dataFolder: data.path,
  logLevel: config.logLevel,
})

/** Throws `storage_full`. */
function demandRoom(path: string): void {
  const { bavail, bsize } = statfsSync(path)
  const freeMb = Math.floor((bavail * bsize) / 1_000_000)
  const neededMb = existsSync(join(path, 'ergon.json')) ? ROOM_LEAST_MB : ROOM_AT_FIRST_MB
  if (freeMb >= neededMb) return
  throw fault(
    'storage_full',
    `Could not start: ${freeMb} MB are free in ${path}, ${neededMb} MB are needed`,
  )
}

const isWhole = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function readKnown(file: string): Decided {
  const { format, created, port, pgPort, runFolder, stateId } = readObject(file)
  if (!isWhole(format)) throw damaged(file, 'format')
  // A newer version may have renamed the other fields.
  if (format <= FORMAT) {
    if (!isText(created)) throw damaged(file, 'created')
    if (!isWhole(port)) throw damaged(file, 'port')
    if (pgPort !== undefined && !isWhole(pgPort)) throw damaged(file, 'pgPort')
    if (stateId !== undefined && !isText(stateId)) throw damaged(file, 'stateId')
  }
  return { format, created, port, pgPort, runFolder, stateId } as Decided
}

/**
 * Reads the secrets; a first start makes those that the file lacks. A later start must not: a new key could open
 * nothing that the old key closed. Throws `data_damaged`.
 */
function openSecrets(file: string, isFirst: boolean): Secrets {
  const made = {
    postgres: randomBytes(24).toString('base64url'),
    mesh: randomBytes(32).toString('base64url'),
    state: newEncryptionKey(),
  }
  if (!isFirst && !existsSync(file)) throw damaged(file)
  const known = existsSync(file) ? readObject(file) : {}
  for (const name of Object.keys(made))
    if (!isText(known[name]) && !(isFirst && known[name] === undefined)) throw damaged(file, name)
  const secrets: Secrets = { ...made, ...known }
  if (isFirst) writeDurably(file, `${JSON.stringify(secrets)}\n`, 0o600)
  return secrets
}

function readObject(file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw damaged(file, undefined, cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged(file)
  return value as Record<string, unknown>
}

const damaged = (file: string, field?: string, cause?: unknown) =>
  fault(
    'data_damaged',
    `Could not read ${file}${field === undefined ? '' : `: its field "${field}"`}`,
    { cause },
  )

function runFolderOf(path: string): string {
  const tag = createHash('sha256').update(path).digest('hex').slice(0, 10)
  return process.getuid?.() === 0
    ? `/run/ergon-${tag}`
    : join(tmpdir(), `ergon-${process.getuid?.()}-${tag}`)
}
