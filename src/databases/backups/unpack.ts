// Makes the files of a cluster from backups: the copy, the log beside it, and the target of the recovery.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  appendFile,
  mkdir,
  open,
  opendir,
  rename,
  rm,
  writeFile,
  type FileHandle,
} from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { syncTree } from '#artifacts/files.ts'
import { createReservedRoom } from '#node/reserved-room.ts'
import { BackupFault, type LogPiece, type RestorePlan } from './plan.ts'
import type { SealedBlobs } from './sealed-blobs.ts'
import { SEGMENT_BYTES, segmentName, segmentStart } from './wire.ts'

/** The recovery goes to the end of the log, to a time, or to the first consistent state. */
export type Until = 'end' | 'consistent' | Date

const ERROR_CHARACTERS = 300

/**
 * Makes `<folder>` with the layout of initialiseCluster(): whole by one rename, or not at all. `report` hears the bytes
 * that were read. Throws `blob_missing`, `blob_damaged`, a BackupFault.
 */
export async function unpackCluster(
  deps: {
    readonly blobs: SealedBlobs
    readonly roomLock: string
    /** Bytes that tenants may still take of the disk of a folder. */
    readonly roomOf?: (folder: string) => Promise<number>
  },
  work: { readonly folder: string; readonly plan: RestorePlan; readonly until: Until },
  report: (doneBytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { folder, plan, until } = work
  const making = `${folder}~`
  await rm(making, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
  const data = join(making, 'data')
  await mkdir(data, { recursive: true, mode: 0o700 })
  try {
    const logBytes = plan.log.reduce((sum, { begin, end }) => sum + Number(end - begin), 0)
    await using room = createReservedRoom({
      path: join(making, 'room'),
      lock: deps.roomLock,
      signal,
      ...(deps.roomOf && { roomOf: deps.roomOf }),
    })
    if (!(await room.reserve(plan.filesBytes + logBytes)))
      throw new BackupFault('the disk of the node has no room for it')
    let done = 0
    const counted = ({ length }: Buffer) => {
      room.wrote(length)
      report((done += length))
    }
    await untar(data, piecesOf(deps.blobs, plan.files, { counted, signal }))
    await demandPlain(data)
    // Without it a server would begin at another place of the log, and be wrong without a word.
    if (!existsSync(join(data, 'backup_label'))) throw new BackupFault('its copy has no label')
    for (const piece of plan.log)
      await writeLog(join(data, 'pg_wal'), piece, deps.blobs.get(piece, signal), counted)
    await appendFile(join(data, 'postgresql.auto.conf'), settingsOf(until))
    await writeFile(join(data, 'recovery.signal'), '')
    await writeFile(join(making, 'cluster.json'), '{"restored":true}\n')
    await writeFile(join(making, 'lock'), '')
    await room.give()
    await syncTree(making)
    await rename(making, folder)
  } catch (error) {
    await rm(making, { recursive: true, force: true })
    throw error
  }
}

/** One target at most: PostgreSQL refuses a second one, even an empty one. */
const settingsOf = (until: Until): string =>
  Object.entries({
    restore_command: 'false',
    ...(until === 'consistent' && { recovery_target: 'immediate' }),
    // The server knows no Z here.
    ...(until instanceof Date && { recovery_target_time: until.toISOString().replace('Z', '+00') }),
    recovery_target_action: 'promote',
    // The size is looked after from the first moment on.
    default_transaction_read_only: 'off',
  })
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join('')

async function* piecesOf(
  blobs: SealedBlobs,
  files: RestorePlan['files'],
  { counted, signal }: { readonly counted: (bytes: Buffer) => void; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  for (const file of files)
    for await (const bytes of blobs.get(file, signal)) {
      counted(bytes)
      yield bytes
    }
}

async function untar(folder: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  const tar = spawn('tar', ['--extract', '--no-same-owner', '--directory', folder, '--file', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let said = ''
  tar.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, ERROR_CHARACTERS)
  })
  const ended = once(tar, 'close') as Promise<[number | null]>
  ended.catch(() => undefined)
  try {
    await pipeline(Readable.from(bytes), tar.stdin)
  } catch (error) {
    tar.kill('SIGKILL')
    await ended.catch(() => undefined)
    throw error
  }
  const [code] = await ended
  if (code !== 0) throw new BackupFault(`its files cannot be unpacked: ${said.trim()}`)
}

/**
 * Files and folders alone: through a link of the copy the log would be written elsewhere. A cluster without tablespaces
 * has no link.
 */
async function demandPlain(folder: string): Promise<void> {
  for await (const entry of await opendir(folder, { recursive: true }))
    if (!entry.isFile() && !entry.isDirectory())
      throw new BackupFault(`its copy has a link or a device: ${entry.name}`)
}

/** Writes a piece to the files of its segments. */
async function writeLog(
  folder: string,
  { begin, timeline }: LogPiece,
  bytes: AsyncIterable<Buffer>,
  counted: (bytes: Buffer) => void,
): Promise<void> {
  let at = begin
  let file: FileHandle | undefined
  try {
    for await (const chunk of bytes) {
      counted(chunk)
      for (let rest = chunk; rest.length > 0;) {
        const offset = Number(at - segmentStart(at))
        if (offset === 0) {
          await file?.close()
          file = undefined
        }
        file ??= await openSegment(join(folder, segmentName(timeline, at)))
        const part = rest.subarray(0, SEGMENT_BYTES - offset)
        await file.write(part, 0, part.length, offset)
        at += BigInt(part.length)
        rest = rest.subarray(part.length)
      }
    }
  } finally {
    await file?.close()
  }
}

async function openSegment(path: string): Promise<FileHandle> {
  const file = await open(path, 'a+', 0o600).then(async (made) => {
    await made.close()
    return await open(path, 'r+')
  })
  await file.truncate(SEGMENT_BYTES)
  return file
}
