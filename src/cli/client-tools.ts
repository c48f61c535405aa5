// PostgreSQL's client programs of this machine, on a database. Addresses are in their environment, as every user of the
// machine can read the arguments of a process.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { environmentWith } from './environment.ts'
import { CommandError, EXIT } from './output.ts'

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** The environment in which libpq connects to an address. Throws a CommandError for what is none. */
export function addressEnvironment(address: string): Readonly<Record<string, string>> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol))
    throw new CommandError('This is no address of a PostgreSQL database', EXIT.usage)
  const asked = url.searchParams.get('sslmode')
  // Programs without TLS do on the same machine.
  const sslMode = asked === 'require' && LOOPBACK.test(url.hostname) ? 'prefer' : asked
  return {
    PGHOST: url.hostname,
    PGPORT: url.port === '' ? '5432' : url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    ...(sslMode !== null && { PGSSLMODE: sslMode }),
  }
}

export type RunningTool = { readonly process: ChildProcess; readonly name: string }

export const startTool = (
  name: string,
  words: readonly string[],
  {
    address,
    stdio,
    socketFolder,
  }: {
    readonly address: string
    readonly stdio: StdioOptions
    /** Of a unix socket, in the place of host and port. */
    readonly socketFolder?: string | undefined
  },
): RunningTool => {
  const socket = socketFolder === undefined ? {} : { PGHOST: socketFolder, PGPORT: '5432' }
  const env = environmentWith({ ...addressEnvironment(address), ...socket })
  return { name, process: spawn(name, words, { stdio, env }) }
}

/** Resolves with the exit status. Throws a CommandError where there is no such program. */
export async function endOfTool({ name, process: tool }: RunningTool): Promise<number> {
  const [code] = (await once(tool, 'close').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new CommandError(
          `There is no ${name} on this machine`,
          EXIT.failed,
          "install PostgreSQL's client programs, of version 16 or later",
        )
      : error
  })) as [number | null]
  return code ?? EXIT.failed
}

/** Throws a CommandError unless a program ended well; it has said why not. */
export async function demandDone(tool: RunningTool): Promise<void> {
  const code = await endOfTool(tool)
  if (code !== 0) throw new CommandError(`${tool.name} ended with status ${code}`, EXIT.failed)
}
