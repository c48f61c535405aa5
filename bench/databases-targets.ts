// The ways to one server of a database that the bench of databases compares: our proxy with and without TLS, the
// server's own socket, and PgBouncer in session mode where it is installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { makeVerifier, verifierText } from '#databases/logins/scram.ts'
import { cachedInstall } from '#postgres/testing.ts'
import { cellOf } from '../test/databases/programs.ts'
import type { Ergon } from '../test/start-ergon.ts'
import { pidsOf } from './product.ts'
import { answering, freePort } from './targets.ts'

export type DatabaseTarget = {
  readonly name: string
  /** A folder of a unix socket, or a name of a host. */
  readonly host: string
  readonly port: number
  readonly user: string
  /** None where the server trusts the role. */
  readonly password: string
  readonly database: string
  readonly isTls: boolean
  /** The processes between the client and the server. */
  readonly pids: readonly number[]
}

export const FRONT = 'Ergon'
export const FRONT_PLAIN = 'Ergon without TLS'
export const DIRECT = 'the server'
export const BOUNCER = 'PgBouncer'
const NOBODY = 65_534

/** Our own ways to a database. */
export function ownTargets(ergon: Ergon, url: string): DatabaseTarget[] {
  const { hostname, port, username, password, pathname } = new URL(url)
  const same = { user: username, database: pathname.slice(1) }
  const pids = pidsOf(ergon.pid, 'pg-proxy')
  const front = { ...same, host: hostname, port: Number(port), password, pids }
  const socket = join(ergon.runFolder, 'databases', cellOf(url))
  return [
    { ...front, name: FRONT, isTls: true },
    { ...front, name: FRONT_PLAIN, isTls: false },
    { ...same, name: DIRECT, host: socket, port: 5432, password: '', isTls: false, pids: [] },
  ]
}

/** The variables of libpq for a target. */
export const libpqOf = (target: DatabaseTarget): NodeJS.ProcessEnv => ({
  PGHOST: target.host,
  PGPORT: String(target.port),
  PGUSER: target.user,
  PGPASSWORD: target.password,
  PGDATABASE: target.database,
  PGSSLMODE: target.isTls ? 'require' : 'disable',
})

/** The program of the machine, which has TLS, or that of the servers' release, which has none. */
export async function findPgbench(): Promise<{ path: string; hasTls: boolean }> {
  const path = findProgram('pgbench')
  if (path !== undefined) return { path, hasTls: true }
  const { clientTools = '' } = await cachedInstall()
  return { path: join(clientTools, 'pgbench'), hasTls: false }
}

const findProgram = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))

/**
 * PgBouncer before the same server, with the certificate and the password of ours; undefined where it is not
 * installed. It refuses to run as root.
 */
export async function startBouncer(
  ergon: Ergon,
  [front, , direct]: readonly DatabaseTarget[],
): Promise<{ target: DatabaseTarget; close(): Promise<void> } | undefined> {
  const program = findProgram('pgbouncer')
  if (program === undefined || front === undefined || direct === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bouncer-'))
  const port = await freePort()
  const { user, password, database } = front
  cpSync(join(ergon.dataFolder, 'databases/tls'), folder, { recursive: true })
  // Of a password it would compute the verifier again at each login, which takes 3 ms.
  const verifier = verifierText(await makeVerifier(password))
  writeFileSync(join(folder, 'users'), `"${user}" "${verifier}"\n`)
  writeFileSync(
    join(folder, 'ini'),
    `[databases]
${database} = host=${direct.host} port=${direct.port} user=${user} dbname=${database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users')}
client_tls_sslmode = allow
client_tls_key_file = ${join(folder, 'key.pem')}
client_tls_cert_file = ${join(folder, 'cert.pem')}
pool_mode = session
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
`,
  )
  // The group that may enter the folder of the server's socket.
  const owner =
    process.geteuid?.() === 0 ? { uid: NOBODY, gid: statSync(direct.host).gid } : undefined
  if (owner !== undefined)
    for (const name of ['', 'ini', 'users', 'key.pem', 'cert.pem'])
      chownSync(join(folder, name), owner.uid, owner.gid)
  const child = spawn(program, [join(folder, 'ini')], {
    stdio: 'ignore',
    cwd: dirname(folder),
    ...owner,
  })
  await answering(port, child)
  return {
    target: { ...front, name: BOUNCER, host: '127.0.0.1', port, pids: [child.pid ?? 0] },
    async close() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
