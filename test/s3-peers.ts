// S3 servers of others, each on a port of 127.0.0.1 with a folder of its own: what the benches compare with,
// and where bodies are tried to be (ERGON_TEST_STORE).
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freeBlock } from './ports.ts'

const GO_BIN = join(import.meta.dirname, '../.cache/bench-go')
const ANSWER_MAX_MS = 60_000

export type S3Key = { readonly id: string; readonly secret: string }
/** The start of a server. */
export type S3Program = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly keys: S3Key
}
export type S3Peer = {
  readonly port: number
  readonly url: string
  readonly keys: S3Key
  readonly pid: number
  close(): Promise<void>
}

const KEYS: S3Key = { id: 'bench', secret: 'benchsecret' }

/** The program for a folder and a port, by name. Throws when the program is neither there nor can be built. */
export const GO_PEERS: Readonly<Record<string, (folder: string, port: number) => S3Program>> = {
  // The last commit of the archived repository.
  minio: (folder, port) => ({
    command: goProgram('minio', 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c'),
    args: ['server', '--quiet', '--address', `127.0.0.1:${port}`, folder],
    env: {
      MINIO_ROOT_USER: KEYS.id,
      MINIO_ROOT_PASSWORD: KEYS.secret,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
    },
    keys: KEYS,
  }),
  versitygw: (folder, port) => ({
    command: goProgram('versitygw', 'github.com/versity/versitygw/cmd/versitygw@v1.8.0'),
    args: ['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', 'posix', folder],
    env: { ROOT_ACCESS_KEY: KEYS.id, ROOT_SECRET_KEY: KEYS.secret },
    keys: KEYS,
  }),
}

/** True when it is built: a test is too short to build it. */
export const isBuilt = (name: string): boolean => existsSync(join(GO_BIN, name))

/** Starts one; it answers. */
export async function startS3Peer(
  name: string,
  programOf: (folder: string, port: number) => S3Program,
): Promise<S3Peer> {
  const port = await freeBlock()
  const folder = mkdtempSync(join(tmpdir(), `ergon-${name}-`))
  const { command, args, env, keys } = programOf(folder, port)
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(command, args, { stdio: 'ignore', env: { PATH, HOME, ...env } })
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + ANSWER_MAX_MS
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    if (performance.now() > deadline) throw new Error(`${name} does not answer`)
    await pause(50)
  }
  return {
    port,
    url,
    keys,
    pid: child.pid ?? 0,
    async close() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whatever it says of a list without a key, it says it as a server that is up. */
const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (answer) => answer.status < 500,
    () => false,
  )

/** A Go program, built at first use by the Go that there is, through the proxy that it is set to. */
function goProgram(name: string, version: string): string {
  const path = join(GO_BIN, name)
  if (existsSync(path)) return path
  mkdirSync(GO_BIN, { recursive: true })
  process.stderr.write(`building ${version} …\n`)
  const env = { ...process.env, GOBIN: GO_BIN }
  execFileSync('go', ['install', version], { env, stdio: ['ignore', 2, 2] })
  return path
}
